# docker build -t ontoground . && docker run --rm -it ontoground bash
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /ontoground
COPY . .
RUN make setup
RUN make demo && make test
ENV PATH=/ontoground/.venv/bin:$PATH
