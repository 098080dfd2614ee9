"""``python -m studies.starting_point STAGE DATA STORE RESULT PAGE`` runs a stage.

The stages, in their order: ``screen`` trains all settings on the first two folds. ``confirm`` trains the chosen
settings, the defaults and CatBoost on the three other folds. ``times`` measures trainings, on an idle machine.
``curves`` trains on up to two million synthetic documents. STORE, a folder, keeps what is trained, so a run goes on
where it was.
"""

import sys

from studies.starting_point.stages import main

if __name__ == "__main__":
    main(*sys.argv[1:])
