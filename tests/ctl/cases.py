# SPDX-License-Identifier: LGPL-2.1-or-later
"""All cases, a module a subject; importing them registers them."""

import case_apply  # noqa: F401
import case_args  # noqa: F401
import case_errors  # noqa: F401
import case_files  # noqa: F401
import case_lists  # noqa: F401
import case_monitor  # noqa: F401
import case_stall  # noqa: F401
import case_status  # noqa: F401
import case_terminal  # noqa: F401
import case_versions  # noqa: F401
import case_windows  # noqa: F401
