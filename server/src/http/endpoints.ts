import type { EndpointGroup } from '../api/endpoint.ts';
import { appointmentEndpoints } from '../appointments/routes.ts';
import { documentEndpoints } from '../documents/routes.ts';
import { emrEndpoints } from '../emrs/routes.ts';
import { healthcareServiceEndpoints } from '../healthcare-services/routes.ts';
import { medicalNoteEndpoints } from '../medical-notes/routes.ts';
import { patientEndpoints } from '../patients/routes.ts';
import { resourceEndpoints } from '../resources/routes.ts';
import { scheduleEndpoints } from '../schedules/routes.ts';
import { timeslotEndpoints } from '../timeslots/routes.ts';
import { watchEndpoints } from '../timeslots/watches/routes.ts';
import { deliveryEndpoints } from '../webhooks/delivery-routes.ts';
import { webhookEndpoints } from '../webhooks/endpoint-routes.ts';
import { eventEndpoints } from '../webhooks/event-routes.ts';

/** Groups whose bodies are JSON of ordinary size, in the order of the OpenAPI document. */
export const ordinaryGroups: readonly EndpointGroup[] = [
  emrEndpoints,
  patientEndpoints,
  resourceEndpoints,
  scheduleEndpoints,
  healthcareServiceEndpoints,
  timeslotEndpoints,
  watchEndpoints,
  appointmentEndpoints,
  medicalNoteEndpoints,
  eventEndpoints,
  webhookEndpoints,
  deliveryEndpoints,
];

/** All endpoints of the interface's own JSON. */
export const nativeEndpoints = [...ordinaryGroups, documentEndpoints].flatMap(({ endpoints }) => endpoints);
