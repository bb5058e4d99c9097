import type { Appointment, Resource } from '@crossward/connector-kit';
import { recordedAccess } from '../api/recorded-access.ts';
import type { RequestContext } from '../appointments/request-context.ts';
import { findTargets } from '../appointments/targets.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import { findPage, type PageConfirmation } from '../confirmations/find-page.ts';
import { within } from '../context/work-context.ts';
import { Problem, unavailable } from '../problems/problem.ts';
import type { WriteServices } from '../writes/write-kind.ts';
import { type PageView, recordedState, type ShownAppointment, shownIds, shownState } from './view.ts';

/** The confirmation of a link, and the client in whose name the page acts. */
export interface LinkedPage {
  readonly confirmation: PageConfirmation;
  readonly context: RequestContext;
}

/** Finds the page of a token. It ends when its client loses the right to change appointments in the care unit. */
export async function findLinkedPage(
  services: WriteServices,
  clients: ClientRegistry,
  token: string,
): Promise<LinkedPage | undefined> {
  const confirmation = await findPage(services, token);
  if (!confirmation) return undefined;
  const { clientId, emr, careUnitId } = confirmation;
  const client = clients.find(clientId);
  const ehr = services.ehrs.get(emr);
  const careUnit = ehr?.careUnits.get(careUnitId);
  const isGranted = client?.grants.get(emr)?.has(careUnitId) && client.scopes.has('appointments:write');
  return client && ehr && careUnit && isGranted
    ? { confirmation, context: { client, ehr, careUnit, services } }
    : undefined;
}

/** Reads what the page or its calendar file shows. Without the EHR, it shows the state alone. */
export function loadView(
  page: LinkedPage,
  operation: 'view_patient_page' | 'get_calendar_file',
  requestId: string,
): Promise<PageView> {
  const outcomeOf = ({ state }: PageView) => (state === 'unavailable' ? 'ehr_unavailable' : 'success');
  const access = { ...pageAccessOf(page, operation, requestId), outcomeOf };
  return recordedAccess(page.context.services.audit, access, () => readView(page));
}

/** An access to a page for the audit trail. Without its entry, nothing is shown. */
export function pageAccessOf(
  { confirmation, context: { client, ehr, careUnit } }: LinkedPage,
  operation: string,
  requestId: string,
) {
  return {
    actor: 'patient_page' as const,
    clientId: client.id,
    operation,
    emr: ehr.id,
    careUnitId: careUnit.id,
    requestId,
    records: confirmation.items.map(({ id }) => id),
    notStored(cause: unknown) {
      throw unavailable('database_unavailable', { cause });
    },
  };
}

async function readView({ confirmation, context }: LinkedPage): Promise<PageView> {
  const recorded = recordedState(confirmation);
  const found = await within({ clientId: context.client.id }, () =>
    readAppointments(context, shownIds(confirmation, recorded)),
  );
  return {
    confirmation,
    state: shownState(confirmation, recorded, found?.appointments),
    appointments: (found?.appointments ?? []).map(({ id, callersId, state, start, end, resourceId }) => ({
      id,
      callersId,
      isCancelled: state === 'cancelled',
      start,
      end,
      resource: resourceId === null ? undefined : found?.resources.get(resourceId),
    })),
  };
}

interface Found {
  readonly appointments: readonly (Appointment & Pick<ShownAppointment, 'callersId'>)[];
  readonly resources: ReadonlyMap<string, Resource>;
}

async function readAppointments(context: RequestContext, ids: readonly string[]): Promise<Found | undefined> {
  try {
    const targets = await findTargets(context, ids, 'all');
    const appointments = ids.flatMap((callersId) => {
      const appointment = targets.get(callersId)?.appointment;
      return appointment ? [{ ...appointment, callersId }] : [];
    });
    return { appointments, resources: await readResources(context, appointments) };
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

async function readResources({ ehr, careUnit }: RequestContext, appointments: readonly Appointment[]) {
  const ids = [...new Set(appointments.flatMap(({ resourceId }) => resourceId ?? []))];
  const resources = await Promise.all(
    ids.map((value) => ehr.call('findResource', careUnit, { type: 'emr_id', value })),
  );
  return new Map(resources.flatMap((it) => (it ? [[it.id, it] as const] : [])));
}
