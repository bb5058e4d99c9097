import type { FastifyInstance } from 'fastify';
import { addAppointmentReads } from './appointments.ts';
import { addBookables } from './bookables.ts';
import type { FaceDeps } from './face.ts';
import { addMetadata } from './metadata.ts';
import { addPatients } from './patients.ts';
import { addSchedules } from './schedules.ts';
import { addServices } from './services.ts';
import { addSlots } from './slots.ts';
import { addAppointmentWrites } from './writes.ts';

/**
 * The FHIR R4 face: a second representation of the native operations, which it calls inside the process. It has no rule of its
 * own, and no way to the EHR.
 */
export function addFhirFace(app: FastifyInstance, deps: FaceDeps): void {
  addMetadata(app, deps);
  addPatients(app, deps);
  addBookables(app, deps);
  addServices(app, deps);
  addSchedules(app, deps);
  addSlots(app, deps);
  addAppointmentReads(app, deps);
  addAppointmentWrites(app, deps);
}
