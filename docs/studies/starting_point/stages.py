"""The stages of the study. Each adds its figures to the JSON file, and fills the tables of the page."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from boostplug.comparison.document import as_json, versions
from boostplug.core.files import write_file
from boostplug.replication.documents import marks
from studies.quality.run import CatBoost
from studies.starting_point.costs import SHARES, curve, times
from studies.starting_point.page import arms, of_compare, of_confirmation, of_screening, tables
from studies.starting_point.rule import chosen, estimate, gain, settings_of, survives
from studies.starting_point.trainings import DEFAULT, OF_COMPARE, SETTINGS, run
from studies.store import finished
from studies.tables import fill

__all__ = ["Study", "main"]

_COMPARE_SEEDS = 2  # of the five


@dataclass(frozen=True)
class Study:
    """The data, what is trained already, and the figures of the stages before."""

    folder: Path
    store: Path
    figures: dict[str, Any]

    def screen(self) -> dict[str, Any]:
        """Train all settings on the first folds, and take what the rule says."""
        every = {framework: tuple(settings) for framework, settings in SETTINGS.items()}
        found = run("screen", self.folder, self.store, every)
        taken = {
            framework: chosen(
                {setting: estimate(gain("screen", found, framework, setting)) for setting in settings_of(framework)}
            )
            for framework in SETTINGS
        }
        return {"chosen": taken, "screen": of_screening(found), "versions": versions("catboost")}

    def confirm(self) -> dict[str, Any]:
        """Train the defaults, the chosen settings and CatBoost on the other folds, and say what survives."""
        taken = self.figures["chosen"]
        few = {framework: (DEFAULT, *([setting] if setting else [])) for framework, setting in taken.items()}
        found = run("confirm", self.folder, self.store, {**few, CatBoost.name: (DEFAULT,)})
        kept = {
            framework: survives(gain("confirm", found, framework, setting))
            for framework, setting in taken.items()
            if setting
        }
        return {"survives": kept, **of_confirmation(found, taken)}

    def compare(self) -> dict[str, Any]:
        """Train XGBoost with the trees of `compare`, with and without the setting, on the folds of the confirmation."""
        found = run("confirm", self.folder, self.store, {"xgboost": tuple(OF_COMPARE)}, _COMPARE_SEEDS)
        return {"compare": of_compare(found)}

    def times(self) -> dict[str, Any]:
        """Measure trainings to their best round. The machine should be idle."""
        return {"times": times(self.folder, self.figures["rounds"])}

    def curves(self) -> dict[str, Any]:
        """Train `CRR` on more and more of two million synthetic documents, where a setting was chosen."""
        taken = self.figures["chosen"]
        listed = [arm for arm in arms(taken) if taken.get(arm.framework) and arm.method == "CRR"]
        names = {(arm, share): "_".join(("curve", f"{share:g}", *arm)) for arm in listed for share in SHARES}
        return {
            "curves": [finished(self.store, name, partial(curve, share, arm)) for (arm, share), name in names.items()]
        }


def main(stage: str, folder: str, store: str, result: str, page: str) -> None:
    """Run a stage: add its figures to the JSON file, and fill the tables of the page."""
    path = Path(result)
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    figures |= getattr(Study(Path(folder), Path(store), figures), stage)()
    write_file(path, as_json(figures))
    made = tables(figures)
    wanted = {mark.removeprefix("table: ") for mark in marks(Path(page).read_text(encoding="utf-8"))}
    fill(Path(page), {name: made.get(name, []) for name in wanted})
