import { bodyLimits } from '../../api/body-limits.ts';

/** What all endpoints have in common, in Markdown: the description of the OpenAPI document. */
export const introduction = `One uniform HTTP/JSON interface over many electronic health record systems (EHRs). This document is at
[/api/openapi.json](/api/openapi.json) and [/api/openapi.yaml](/api/openapi.yaml).

## Authentication

Every operation requires the headers \`x-service-client-id\` and \`x-service-client-secret\`. An EHR or a care unit that the
client is not granted gets the same response as one that does not exist.

## Identifiers

A patient or resource identifier is \`{type}:{value}\`, a bare value (an \`emr_id\`), or \`header:{header_name}\`. With
\`header:\`, the gateway reads the identifier from that request header, which keeps it out of URLs and bodies:
\`/patients/header:x-patient\` with the header \`x-patient: no_personal_number:15859000026\`. \`get_emr\` lists the types that an
EHR accepts. Responses name patients and resources as \`emr_id:{value}\`, which can be sent back unchanged.

## Times

Each care unit has a time zone. \`start_time\` and \`end_time\` of a new appointment are local times,
\`2030-03-15T09:00:00\`. They may be followed by the care unit's offset, \`2030-03-15T09:00:00+01:00\`, so the \`start\` and
\`end\` of a time slot can be sent as they are. Any other offset is rejected. \`start\` and \`end\`, in queries and in changes, may
have any offset. A local time that is skipped when the clocks go forward is rejected. For a local time that occurs twice, the
gateway uses the first; an offset selects the second. Times in responses have the care unit's offset.

## Codes

A care unit can require that the patient confirms a booking or a cancellation with a code, which the gateway sends by SMS or
e-mail. Then the response has the status \`awaiting_confirmation\` and a \`confirmation\`. The patient enters the code on the page
at \`confirmation.page_url\`, or in your application, which sends it with \`change_appointment\`:
\`{ "confirmation": { "code": "312088" } }\`. A code expires. After too many incorrect codes, no code is accepted.
\`resend_confirmation\` sends a new code. A cancellation that awaits its code has an id of its own: send the code to that id. The
appointment that it cancels, \`replaces_id\`, stays booked until then.

## Paging

Lists take \`limit\` (1 to 500, default 100) and \`cursor\`. To get the next page, send the same query with \`next_cursor\` of the
previous page as \`cursor\`. \`next_cursor\` is null on the last page.

## Retries

Send an \`idempotency-key\` header with every write: a new one for each write, the same one for each retry. For 24 hours, a retry
with the same key does not repeat the write and gets the stored response, with the header \`idempotency-replayed: true\`. After 504
\`outcome_unknown\`, send the same request with the same key again until you get a different response. \`retryable\` in an error says
whether the same request can succeed later; \`Retry-After\` says when.

## Errors

Errors are RFC 9457 problem details. \`reason\` is stable and machine-readable. The page \`/problems/{reason}\` explains what
happened and what to do.

## FHIR R4

Each care unit also has a FHIR R4 base URL, \`/api/emrs/{emr}/care-units/{care_unit_id}/fhir-r4\`. Its CapabilityStatement at
\`metadata\` describes it; this document does not. \`/api/fhir-r4\` is a base URL over all care units that the client is granted.
\`/api/fhir-r4/$bulk-publish\` has free times of public care units, without credentials (SMART Scheduling Links).

## Request bodies

A body is JSON in UTF-8, with at most 1 MiB (more if the operation says so), ${bodyLimits.depth} levels of nesting and
${bodyLimits.values} values. An object must not repeat a name. Unknown fields and query parameters are rejected.

## Dry runs

With \`dry_run=true\`, booking, changing and cancelling validate everything, change nothing and return a preview.

## TypeScript client

\`@crossward/client\` is a typed client for Node.js 20 or newer and for browsers. It sends the credentials, retries safely with one
\`idempotency-key\` for each write, loads the pages of lists, keeps identifiers of patients out of URLs, and throws problems as
errors. \`npm run pack\` in a clone of Crossward writes \`packages/crossward-client-*.tgz\`; install that file in your project. Its
README has examples of every kind of call.

\`\`\`ts
import { createCrosswardClient, isProblem } from '@crossward/client';

const client = createCrosswardClient({
  baseUrl: 'https://gateway.example', // without /api
  clientId: 'booking-site',
  clientSecret: '…',
});
const ward = client.careUnit('sandbox-no', 'oslo-sentrum');

try {
  const { id, status } = await ward.appointments.create({
    patient_id: 'p-3',
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    start_time: '2030-03-15T09:00:00',
    end_time: '2030-03-15T09:30:00',
  });
  console.log(id, status);
} catch (error) {
  if (!isProblem(error, 'time_slot_unavailable')) throw error;
  console.log('The time is taken.');
}
\`\`\``;
