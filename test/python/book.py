"""Books an appointment and stores a document through a client that openapi-python-client has generated, and prints what
happened as JSON."""

import json
import os
import sys
from io import BytesIO

from crossward_client import Client
from crossward_client.api.appointments import change_appointment, create_appointment, get_appointment
from crossward_client.api.documents import create_document, get_document_content
from crossward_client.api.patients import get_patient
from crossward_client.api.time_slots import list_timeslots
from crossward_client.models import (
    Appointment,
    AppointmentCancellation,
    AppointmentCreation,
    AppointmentPreview,
    Document,
    DocumentForm,
    Patient,
    Problem,
    Reason,
)
from crossward_client.types import File

client = Client(
    base_url=os.environ["CROSSWARD_URL"],
    headers={
        "x-service-client-id": os.environ["CROSSWARD_CLIENT_ID"],
        "x-service-client-secret": os.environ["CROSSWARD_CLIENT_SECRET"],
    },
)
place = {"emr": "sandbox-no", "care_unit_id": "oslo-sentrum"}


def require(value, kind):
    """The value, if the client has parsed it into this model."""
    if not isinstance(value, kind):
        sys.exit(f"{kind.__name__} expected, got {value!r}")
    return value


patient = require(
    get_patient.sync(
        **place,
        patient_id="header:x-patient",
        client=client.with_headers({"x-patient": "no_personal_number:15859000026"}),
    ),
    Patient,
)
slots = list_timeslots.sync(
    **place,
    client=client,
    start="2030-03-15T09:00:00",
    end="2030-03-15T10:00:00",
    resource_id=["r-1"],
    healthcare_service_id=["consultation"],
).timeslots
creation = AppointmentCreation(
    patient_id=patient.id,
    resource_id=slots[0].resource_id,
    healthcare_service_id=slots[0].healthcare_service_id,
    start_time=slots[0].start.strftime("%Y-%m-%dT%H:%M:%S"),
    end_time=slots[0].end.strftime("%Y-%m-%dT%H:%M:%S"),
)
preview = require(create_appointment.sync(**place, client=client, body=creation, dry_run=True), AppointmentPreview)
booked = require(create_appointment.sync(**place, client=client, body=creation, idempotency_key="python"), Appointment)
again = require(create_appointment.sync(**place, client=client, body=creation, idempotency_key="python"), Appointment)
taken = require(create_appointment.sync(**place, client=client, body=creation), Problem)
cancelled = require(
    change_appointment.sync(
        **place, appointment_id=booked.id, client=client, body=AppointmentCancellation(status="cancelled")
    ),
    Appointment,
)
read = require(get_appointment.sync(**place, appointment_id=booked.id, client=client), Appointment)

content = b"%PDF-1.7 \xff\x00"
file = File(payload=BytesIO(content), file_name="referral.pdf", mime_type="application/pdf")
document = require(
    create_document.sync(
        **place, patient_id=patient.id, client=client, body=DocumentForm(content=file, title="Referral")
    ),
    Document,
)
download = get_document_content.sync(**place, patient_id=patient.id, document_id=document.id, client=client)

print(
    json.dumps(
        {
            "patient": patient.given_name,
            "preview": preview.change,
            "status": booked.status,
            "start": booked.start.isoformat(),
            "same": again.id == booked.id,
            "taken": taken.reason is Reason.TIME_SLOT_UNAVAILABLE,
            "document": [document.title, document.content_type, download.payload.read() == content],
            "cancelled": [cancelled.status, read == cancelled],
        }
    )
)
