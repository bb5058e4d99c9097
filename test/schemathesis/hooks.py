"""Hooks of Schemathesis, loaded by the test: formats and a check that the OpenAPI document cannot express.

`valid_data_is_understood` replaces the check `positive_data_acceptance`, which fails for every 400 to a request that
matches the schemas. The replacement accepts reasons that depend on data.
"""

from datetime import date, datetime

import schemathesis
from hypothesis import strategies as st

# Reasons that depend on data in the EHR, on earlier requests or on the time.
DEPENDS_ON_DATA = {
    "appointment_not_found": "the EHR has no such appointment",
    "healthcare_service_not_found": "the EHR has no such service",
    "patient_not_found": "the EHR has no such patient",
    "resource_not_found": "the care unit has no such resource",
    "appointments_not_alike": "the appointments differ",
    "author_not_practitioner": "the kind of the resource in the EHR",
    "confirmations_differ": "the appointments await different codes",
    "confirmation_code_incorrect": "the code is sent to the patient",
    "content_type_mismatch": "the first bytes of the content decide",
    "cursor_invalid": "only the gateway creates cursors, for one client and its filters",
    "healthcare_service_not_offered": "the services of the resource in the EHR",
    "identifier_malformed": "check digits, and the types of each EHR",
    "identifier_type_unsupported": "each EHR supports different types",
    "header_reference_missing": "the referenced header is another part of the request",
    "header_reference_forbidden": "the headers that may contain identifiers are configured",
    "idempotency_key_reused": "the same key was sent with another request",
    "local_time_nonexistent": "the clock change of the care unit skips the time",
    "recurrence_invalid": "rules of RFC 5545, and the number of occurrences",
    "return_url_not_allowed": "the URLs that the configuration of the client allows",
    "time_range_invalid": "the order of start and end, and the current time",
    "time_slot_unavailable": "the schedule of the resource, and other bookings",
    "webhook_url_rejected": "the addresses that the configuration allows",
}

# Each country has its own lengths and prefixes.
POSSIBLE_PHONE = (
    "must be a phone number in the form of E.164 that is possible in its country, such as +46701740605."
)

# Rules that OpenAPI cannot express: several parts of a request, the size of decoded content, what an EHR offers.
COMBINED_RULES = (
    ("/phone", f"/phone {POSSIBLE_PHONE}"),
    ("/patient_details/phone", f"/patient_details/phone {POSSIBLE_PHONE}"),
    ("dry_run", "A confirmation does not support `dry_run`."),
    ("patient_id", "The query must have `patient_id`, `resource_id`, or both `start` and `end`."),
    ("start", "`start` and `end` must be sent together."),
    ("end", "`start` and `end` must be sent together."),
    ("/content", "/content must not be empty."),
    ("patient_id", "This EHR has the same time slots for every patient."),
    ("/family_name", "/family_name is missing. Send both, or `phone` alone."),
    ("/birth_date", "/birth_date is missing. Send both, or `phone` alone."),
    ("/phone", "`phone` cannot be sent with `family_name` or `birth_date`."),
    ("/patient_details", "This EHR takes no `patient_details`: it knows its patients."),
)


@schemathesis.check
def valid_data_is_understood(ctx, response, case):
    """A request that matches the schemas succeeds, or is rejected for a reason that depends on data."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 413, 414, 415, 422):
        return
    problem = response.json()
    # The errors of the token endpoint (RFC 6749, section 5.2): no generated assertion is signed by a known key.
    if "error" in problem:
        return
    if problem["reason"] in DEPENDS_ON_DATA or breaks_combined_rule(problem):
        return
    raise AssertionError(f"A valid request was rejected: {problem['reason']}: {problem['detail']} {problem['errors']}")


def breaks_combined_rule(problem):
    return problem["reason"] == "request_invalid" and any(
        problem["detail"] == detail
        and any(place in (error.get("parameter"), error.get("pointer")) for error in problem["errors"])
        for place, detail in COMBINED_RULES
    )


# Formats of the gateway (server/src/http/body/formats.ts). Without a generator, Schemathesis would treat any string as valid.
# `date` and `date-time` are in the range of years that the gateway takes.
local_times = st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31)).map(
    lambda moment: moment.isoformat(timespec="seconds")
)


def with_suffix(*suffixes):
    return st.builds(str.__add__, local_times, st.sampled_from(suffixes))


def texts(**characters):
    return st.text(st.characters(codec="utf-8", **characters), min_size=1, max_size=100)


schemathesis.openapi.format("date", st.dates(date(1900, 1, 1), date(2200, 12, 31)).map(date.isoformat))
schemathesis.openapi.format("local-date-time", local_times)
schemathesis.openapi.format("care-unit-date-time", with_suffix("", "", "Z", "+00:00", "+01:00", "+02:00"))
schemathesis.openapi.format("date-time-or-local", with_suffix("", "Z", "+00:00", "+01:00", "-05:30", ".123Z"))
schemathesis.openapi.format("date-time", with_suffix("Z", "+00:00", "+01:00", "-05:30", ".123Z"))
schemathesis.openapi.format("text", texts(exclude_characters="\0"))
schemathesis.openapi.format("line", texts(exclude_categories=["Cc"]))
schemathesis.openapi.format("name", texts(exclude_categories=["C", "Zl", "Zp"]).map("a".__add__))
schemathesis.openapi.format("phone-number", st.from_regex(r"^\+[1-9][0-9]{6,14}\Z"))
schemathesis.openapi.format("email-address", st.from_regex(r"^[a-z]{1,20}@[a-z]{1,20}\.example\Z"))
schemathesis.openapi.format("text-with-content", texts(exclude_characters="\0").map("a".__add__))
schemathesis.openapi.format("document-title", texts(categories=["L", "N"]))
