"""Books, moves and cancels through fhirpy, a client that knows only FHIR, and prints what happened as JSON."""

import json
import os
import time

from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import OperationOutcome

client = SyncFHIRClient(
    os.environ["FHIR_BASE"],
    extra_headers={
        "x-service-client-id": os.environ["CROSSWARD_CLIENT_ID"],
        "x-service-client-secret": os.environ["CROSSWARD_CLIENT_SECRET"],
    },
)


def booking(slot):
    return client.resource(
        "Appointment",
        status="booked",
        slot=[slot.to_reference()],
        participant=[{"actor": {"reference": "Patient/p-3"}, "status": "accepted"}],
    )


def refusal(call):
    """The issue types with which a call is refused."""
    try:
        call()
    except OperationOutcome as refused:
        return [issue["code"] for issue in refused.resource["issue"]]
    return None


slots = client.resources("Slot").search(
    **{"schedule.actor": "Practitioner/r-1", "service-type": "consultation"},
    start=["ge2030-03-15", "lt2030-03-16"],
)
day = slots.limit(3).fetch_all()
first, *_, last = day

appointment = booking(first)
valid = appointment.is_valid()
booked = appointment.save()
result = {
    "valid": valid,
    "booked": [booked["status"], booked["start"] == first["start"]],
    "taken": refusal(booking(first).save),
    # fhirpy sends a query with the POST: a server that ignored it would book twice.
    "conditional": refusal(lambda: client.resources("Appointment").search(_id="x").get_or_create(booking(last))),
    "paged": [len(day) > 3, len({slot.id for slot in day}) == len(day), slots.count() == len(day) - 1],
}

moved = client.reference("Appointment", booked.id).to_resource()
for name in ("slot", "minutesDuration"):
    moved.pop(name, None)
moved["start"], moved["end"] = last["start"], last["end"]
moved.save()
result["moved"] = client.reference("Appointment", booked.id).to_resource()["start"] == last["start"]

moved["comment"] = "x" * 10_000
refused = refusal(moved.save)
moved.refresh()
result["refreshed"] = [refused, "comment" in moved]

moved["status"] = "cancelled"
moved.save()
found = client.resources("Appointment").search(patient="p-3", status="cancelled").fetch_all()
result["cancelled"] = [moved["status"], booked.id in {it.id for it in found}]

subscription = client.resource(
    "Subscription",
    status="requested",
    reason="python",
    criteria="urn:crossward:subscription-topic:appointment-booked",
    channel={
        "type": "rest-hook",
        "endpoint": os.environ["RECEIVER"],
        "payload": "application/fhir+json",
        "_payload": {
            "extension": [
                {
                    "url": "http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-payload-content",
                    "valueCode": "id-only",
                }
            ]
        },
    },
).save()
while (read := client.reference("Subscription", subscription.id).to_resource())["status"] == "requested":
    time.sleep(0.05)
listed = client.resources("Subscription").search(status="active").fetch_all()
read["reason"] = "another"
read.save()
read.delete()
result["subscribed"] = [read["status"], read["reason"], [it.id for it in listed] == [subscription.id]]

print(json.dumps(result))
