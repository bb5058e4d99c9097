"""What Schemathesis has to know of the interface beyond its description.

Loaded by run.ts. Every check of Schemathesis runs except `positive_data_acceptance`, which takes each 400 to a request
that fits the schemas for a mistake. `valid_data_is_understood` stands in its place: it knows the refusals that depend
on data, and fails on any other.
"""

from datetime import datetime

import schemathesis
from hypothesis import strategies as st

# A schema cannot know what stands in an EHR, what was sent before, or what time it is.
DEPENDS_ON_DATA = {
    "appointment_not_found": "the EHR has no such appointment",
    "healthcare_service_not_found": "the EHR has no such service",
    "patient_not_found": "the EHR has no such patient",
    "resource_not_found": "the care unit has no such resource",
    "appointments_not_alike": "the appointments differ",
    "confirmations_differ": "the appointments await different codes",
    "confirmation_code_incorrect": "only the patient knows the code",
    "cursor_invalid": "a cursor is made by the gateway, for one client and its filters",
    "identifier_malformed": "check digits; the types that an EHR may have",
    "identifier_type_unsupported": "which types the EHR of the path has",
    "header_reference_missing": "the header that is named is another part of the request",
    "header_reference_forbidden": "which headers may hold identifiers is a setting",
    "idempotency_key_reused": "the same key was sent with another request",
    "local_time_nonexistent": "the clock of the care unit is set forward there",
    "time_range_invalid": "end against start; what is past",
    "time_slot_unavailable": "the schedule of the resource, and who was faster",
}

# Rules between two parts of a request, which OpenAPI has no words for.
BETWEEN_PARTS = (
    ("dry_run", "A confirmation does not support `dry_run`."),
    ("patient_id", "The query must have `patient_id`, `resource_id`, or both `start` and `end`."),
    ("start", "`start` and `end` must be sent together."),
    ("end", "`start` and `end` must be sent together."),
)


@schemathesis.check
def valid_data_is_understood(ctx, response, case):
    """A request that fits the schemas is done, or refused for a reason that no schema can know."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 413, 414, 415, 422):
        return
    problem = response.json()
    if problem["reason"] in DEPENDS_ON_DATA or is_between_parts(problem):
        return
    raise AssertionError(f"A valid request is refused: {problem['reason']}: {problem['detail']} {problem['errors']}")


def is_between_parts(problem):
    return problem["reason"] == "request_invalid" and any(
        problem["detail"] == detail and any(error.get("parameter") == parameter for error in problem["errors"])
        for parameter, detail in BETWEEN_PARTS
    )


# Formats of our own, without which anything would count as valid.
local_times = st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31)).map(
    lambda moment: moment.isoformat(timespec="seconds")
)

schemathesis.openapi.format("local-date-time", local_times)
schemathesis.openapi.format(
    "date-time-or-local",
    st.builds(str.__add__, local_times, st.sampled_from(["", "Z", "+00:00", "+01:00", "-05:30", ".123Z"])),
)
schemathesis.openapi.format(
    "text", st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=100)
)
