# docker build -t ontoground . && docker run --rm -it ontoground bash
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /ontoground
# torch for a CPU
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
COPY . .
RUN make setup
RUN make demo && make test
ENV PATH=/ontoground/.venv/bin:$PATH
