"""The old name of orrery.job, so that programs written for it go on."""
import sys

import orrery.job

sys.modules[__name__] = orrery.job
