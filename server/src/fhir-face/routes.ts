import { appointmentBook } from './appointments/book.ts';
import { appointmentConfirm } from './appointments/confirm.ts';
import { appointmentCreate } from './appointments/create.ts';
import { appointmentFind } from './appointments/find.ts';
import { appointmentPatch } from './appointments/patch.ts';
import { appointmentRead } from './appointments/read.ts';
import { appointmentResendCode } from './appointments/resend-code.ts';
import { appointmentSearch } from './appointments/search.ts';
import { appointmentUpdate } from './appointments/update.ts';
import { appointmentValidations } from './appointments/validate.ts';
import { batch } from './batch.ts';
import { bookableInteractions } from './bookables.ts';
import { readMetadata } from './metadata.ts';
import { operationDefinitions } from './operation-definitions.ts';
import { patientInteractions } from './patients.ts';
import { roleInteractions } from './roles.ts';
import { scheduleInteractions } from './schedules.ts';
import { serviceInteractions } from './services.ts';
import { slotInteractions } from './slots.ts';
import { subscriptionInteractions } from './subscriptions/routes.ts';

/**
 * The FHIR R4 face: a second representation of the native endpoints, which it calls inside the process. It has no rule of its
 * own, and no way to the EHR.
 */
export const faceEndpoints = [
  readMetadata,
  batch,
  ...operationDefinitions,
  ...patientInteractions,
  ...bookableInteractions,
  ...roleInteractions,
  ...serviceInteractions,
  ...scheduleInteractions,
  ...slotInteractions,
  appointmentRead,
  ...appointmentSearch,
  appointmentCreate,
  appointmentUpdate,
  appointmentPatch,
  appointmentConfirm,
  appointmentResendCode,
  ...appointmentFind,
  appointmentBook,
  ...appointmentValidations,
  ...subscriptionInteractions,
];
