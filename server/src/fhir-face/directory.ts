import type { FastifyRequest } from 'fastify';
import type { Natives } from './native.ts';
import { accessOf } from './native.ts';
import { patientNames } from './notation.ts';
import type { Named } from './to-fhir/appointment.ts';
import type { ServiceBody } from './to-fhir/healthcare-service.ts';
import { type ResourceBody, typeOfKind } from './to-fhir/resource.ts';
import type { Agenda } from './to-fhir/schedule-and-slot.ts';
import { agendaId } from './to-fhir/schedule-and-slot.ts';

/** The longest page of native lists. */
const limit = 500;

async function all<Entry>(natives: Natives, operationId: string, name: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const query: Readonly<Record<string, unknown>> = { limit, ...(cursor === null ? {} : { cursor }) };
    const body = await natives.read<Record<string, unknown> & { readonly next_cursor: string | null }>(operationId, {
      query,
    });
    entries.push(...((body[name] ?? []) as Entry[]));
    cursor = body.next_cursor;
  } while (cursor !== null);
  return entries;
}

/** What can be booked at the care unit. */
export interface Directory {
  readonly resources: readonly ResourceBody[];
  readonly services: readonly ServiceBody[];
  readonly agendas: readonly Agenda[];
}

/** Reads what can be booked, as the native operations list it. */
export async function readDirectory(natives: Natives): Promise<Directory> {
  const [resources, services] = await Promise.all([listResources(natives), listServices(natives)]);
  const byId = new Map(services.map((it) => [it.id, it]));
  const agendas = resources.flatMap((resource) =>
    resource.healthcare_service_ids.flatMap((id) => {
      const service = byId.get(id);
      return service ? [{ resource, service }] : [];
    }),
  );
  return { resources, services, agendas };
}

export function listResources(natives: Natives): Promise<readonly ResourceBody[]> {
  return all<ResourceBody>(natives, 'list_resources', 'resources');
}

export function listServices(natives: Natives): Promise<readonly ServiceBody[]> {
  return all<ServiceBody>(natives, 'list_healthcare_services', 'healthcare_services');
}

export function agendasById({ agendas }: Directory): ReadonlyMap<string, Agenda> {
  return new Map(agendas.map((it) => [agendaId(it), it]));
}

/** What Appointments say of other records. If the EHR does not say what there is, an Appointment is shown with fewer names. */
export async function namedIn(request: FastifyRequest, natives: Natives): Promise<Named> {
  return namedFrom(request, natives, await readDirectory(natives).catch(() => undefined));
}

/**
 * A client that may not list services gets their ids.
 *
 * @param directory absent: it is not known
 */
export function namedFrom(request: FastifyRequest, natives: Natives, directory?: Directory): Named {
  const { ehr, careUnit } = accessOf(request);
  const kinds = new Map(directory?.resources.map(({ id, kind }) => [id, kind]));
  const isAllowed = natives.shows('HealthcareService');
  const names = new Map(directory?.services.map(({ id, name }) => [id, name]));
  return {
    careUnit,
    patients: patientNames(ehr),
    typeOf(id) {
      const kind = kinds.get(id);
      return kind && typeOfKind[kind];
    },
    nameOfService: (id) => (isAllowed ? names.get(id) : undefined),
  };
}
