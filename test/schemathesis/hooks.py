"""Hooks of Schemathesis, loaded by run.ts: formats and a check that the OpenAPI document cannot express.

`valid_data_is_understood` replaces the check `positive_data_acceptance`, which fails for every 400 to a request that
matches the schemas. The replacement accepts reasons that depend on data.
"""

from datetime import datetime

import schemathesis
from hypothesis import strategies as st

# Reasons that depend on data in the EHR, on earlier requests or on the time.
DEPENDS_ON_DATA = {
    "appointment_not_found": "the EHR has no such appointment",
    "healthcare_service_not_found": "the EHR has no such service",
    "patient_not_found": "the EHR has no such patient",
    "resource_not_found": "the care unit has no such resource",
    "appointments_not_alike": "the appointments differ",
    "confirmations_differ": "the appointments await different codes",
    "confirmation_code_incorrect": "the code is sent to the patient",
    "cursor_invalid": "only the gateway creates cursors, for one client and its filters",
    "identifier_malformed": "check digits, and the types of each EHR",
    "identifier_type_unsupported": "each EHR supports different types",
    "header_reference_missing": "the referenced header is another part of the request",
    "header_reference_forbidden": "the headers that may contain identifiers are configured",
    "idempotency_key_reused": "the same key was sent with another request",
    "local_time_nonexistent": "the clock change of the care unit skips the time",
    "time_range_invalid": "the order of start and end, and the current time",
    "time_slot_unavailable": "the schedule of the resource, and other bookings",
}

# Rules that combine several parts of a request, which OpenAPI cannot express.
COMBINED_RULES = (
    ("dry_run", "A confirmation does not support `dry_run`."),
    ("patient_id", "The query must have `patient_id`, `resource_id`, or both `start` and `end`."),
    ("start", "`start` and `end` must be sent together."),
    ("end", "`start` and `end` must be sent together."),
)


@schemathesis.check
def valid_data_is_understood(ctx, response, case):
    """A request that matches the schemas succeeds, or is rejected for a reason that depends on data."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 413, 414, 415, 422):
        return
    problem = response.json()
    if problem["reason"] in DEPENDS_ON_DATA or breaks_combined_rule(problem):
        return
    raise AssertionError(f"A valid request was rejected: {problem['reason']}: {problem['detail']} {problem['errors']}")


def breaks_combined_rule(problem):
    return problem["reason"] == "request_invalid" and any(
        problem["detail"] == detail and any(error.get("parameter") == parameter for error in problem["errors"])
        for parameter, detail in COMBINED_RULES
    )


# Custom formats. Without a generator, Schemathesis would treat any string as valid.
local_times = st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31)).map(
    lambda moment: moment.isoformat(timespec="seconds")
)

schemathesis.openapi.format("local-date-time", local_times)
schemathesis.openapi.format(
    "care-unit-date-time", st.builds(str.__add__, local_times, st.sampled_from(["", "", "Z", "+00:00", "+01:00", "+02:00"]))
)
schemathesis.openapi.format(
    "date-time-or-local",
    st.builds(str.__add__, local_times, st.sampled_from(["", "Z", "+00:00", "+01:00", "-05:30", ".123Z"])),
)
schemathesis.openapi.format(
    "text", st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=100)
)
