"""``ontoground train ablation``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import unfolded
from ontoground.cli.runs import require_packages, run_folder, run_settings, short_name
from ontoground.cli.train.options import PACKAGES, group

__all__ = ["ablation"]


@verb(
    group,
    "MedVAL's ablation: two teachers by two thresholds.",
    "ontoground --hub train ablation --model Qwen/Qwen3-4B \\",
    "    --self DIR --teacher DIR",
)
def ablation(
    options: InWorkspace,
    model: Annotated[str, Option(metavar="NAME_OR_PATH", help="Base model: hub name or local folder")],
    of_model: Annotated[
        Path,
        Option(
            "--self", metavar="DIR", help="MedVAL folder with the outputs and scores of the base model itself, tau 0"
        ),
    ],
    teacher: Annotated[Path, Option(metavar="DIR", help="The same from a stronger model")],
    reference: Annotated[
        Path | None, Option(metavar="DIR", help="MedVAL folder whose test split is judged; default: the workspace's")
    ] = None,
    out: Annotated[Path | None, Option(metavar="DIR", help="Folder of the runs and the table")] = None,
    config: Annotated[
        Path | None,
        Option(metavar="FILE", help="TOML file with [training] and [generation]; default: the paper's settings"),
    ] = None,
    overrides: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="Override one setting, as training.epochs=2")
    ] = None,
    baseline: Annotated[bool, Option(help="Also judge with the base model itself")] = True,
) -> Result:
    """Train a validator on data of the model itself and of a teacher, filtered by consistency or not, and judge each.

    The same command continues after a stop: finished runs and training steps are kept.
    """
    require_packages(*PACKAGES, "trl", "datasets", "statsmodels")
    from ground.lm.local import check_model
    from training.runs.settings import AblationSettings

    settings = run_settings(AblationSettings, config, overrides or ())
    check_model(model)
    from evaluation.datasets import TextDataset

    folder = out or run_folder(options.workspace, "ablation", short_name(model), f"seed{settings.training.seed}")
    judged = reference or options.workspace / "datasets" / "medval"
    for dataset in (of_model, teacher, judged):
        TextDataset.open(dataset, "medval")
    # Late, since it takes seconds, and what is wrong is said before.
    from training.runs.processes import is_main
    from training.sft.ablation import ablate, ablation_table, plan_cells

    cells = ablate(plan_cells(of_model, teacher, folder), judged, model, folder, settings, baseline=baseline)
    # Of several processes that train together one speaks.
    if not is_main():
        raise typer.Exit
    return options.result(
        "train ablation",
        lambda payload: [unfolded(ablation_table(payload))],
        reference=str(judged),
        folder=str(folder),
        **cells,
    )
