import type { AppointmentChange, Connector } from '@crossward/connector-kit';
import { completed } from '../../appointments/completion.ts';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import { compare, type FhirAppointment } from '../../fhir.ts';
import { toAppointment } from '../../mappers/appointment.ts';
import { viewAfter } from '../../mappers/group.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { operationKeys, operationSystem, partKey, placesIn } from '../operation-ids.ts';
import { unknownOutcome } from './outcomes.ts';

/** Finds the appointments that an operation wrote, in the order of its changes. */
export type FindDone = (operationId: string) => Promise<readonly FhirAppointment[]>;

/** Removes what a write has left that made no appointment. Throws while it cannot. */
export type CleanUp = (
  directory: CareUnitDirectory,
  write: { readonly operationId: string; readonly changes: readonly AppointmentChange[] },
) => Promise<void>;

/** The port's `findOperation`, for a server that keeps operation ids. */
export function operationFinder(
  ehr: BookingConnection,
  findDone: FindDone = (operationId) => findOperationResources(ehr, operationId),
  cleanUp: CleanUp = async () => undefined,
): Pick<Connector, 'findOperation'> {
  if (!ehr.operationLookup) return {};
  return {
    async findOperation(careUnit, operationId, changes = []) {
      const found = await findDone(operationId);
      const directory = await ehr.directory.of(careUnit);
      if (found.length === 0) {
        await cleanUp(directory, { operationId, changes });
        return null;
      }
      const whole = await completed(ehr, directory, found);
      const appointments = whole.flatMap((it) => toAppointment(it, directory, ehr.dialect, ehr.client.clock) ?? []);
      // The care unit no longer includes the resource or the location of one of them, but the appointment exists.
      if (appointments.length < found.length) throw unknownOutcome();
      return appointments;
    },
  };
}

/** An appointment that several changes of the write touched is returned once for each change. */
export async function findOperationResources(
  { client }: BookingConnection,
  operationId: string,
): Promise<readonly FhirAppointment[]> {
  const identifier = ['identifier', `${operationSystem}|${operationId}`] as const;
  const matches = await client.search<FhirAppointment>('Appointment', [identifier], { few: true });
  // Some servers ignore a search parameter that they do not know.
  return matches
    .filter((it) => it.status !== 'entered-in-error' && operationKeys(it).includes(operationId))
    .flatMap((it) => {
      const places = placesIn(it, operationId);
      if (places.length === 0) return [{ it: viewAfter(it, operationId), place: 0 }];
      return places.map((place) => ({ it: viewAfter(it, partKey(operationId, place)), place }));
    })
    .sort((a, b) => a.place - b.place || compare(a.it.id ?? '', b.it.id ?? ''))
    .map(({ it }) => it);
}
