import type { FastifyRequest } from 'fastify';
import type { TProperties, TSchema } from 'typebox';
import type { Access, ReadEndpoint } from '../api/endpoint.ts';
import type { pagingQuery } from '../api/paging.ts';
import { maySeeResource } from '../clients/smart-scopes.ts';
import { listHealthcareServices } from '../healthcare-services/routes.ts';
import { listResources } from '../resources/routes.ts';
import { accessOf } from './face.ts';
import { patientNames } from './ids.ts';
import { readNative } from './native.ts';
import type { AppointmentNames } from './to-fhir/appointment.ts';
import type { ServiceBody } from './to-fhir/resource.ts';
import { type ResourceBody, typeOfKind } from './to-fhir/resource.ts';
import type { Agenda } from './to-fhir/schedule-and-slot.ts';
import { agendaId } from './to-fhir/schedule-and-slot.ts';

/** The longest page of native lists. */
const limit = 500;

async function all<Body extends { readonly next_cursor: string | null }>(
  request: FastifyRequest,
  list: ReadEndpoint<'care_unit', TProperties, typeof pagingQuery, TSchema, Body>,
): Promise<readonly Body[]> {
  const pages: Body[] = [];
  let cursor: string | null = null;
  do {
    const page: Body = await readNative(request, list, { query: { limit, ...(cursor === null ? {} : { cursor }) } });
    pages.push(page);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}

/** What can be booked at the care unit. */
export interface Directory {
  readonly resources: readonly ResourceBody[];
  readonly services: readonly ServiceBody[];
  readonly agendas: readonly Agenda[];
}

/** Reads what can be booked, as the native endpoints list it. */
export async function readDirectory(request: FastifyRequest): Promise<Directory> {
  return directoryOf(...(await Promise.all([allResources(request), allServices(request)])));
}

export function directoryOf(resources: readonly ResourceBody[], services: readonly ServiceBody[]): Directory {
  const byId = new Map(services.map((it) => [it.id, it]));
  const agendas = resources.flatMap((resource) =>
    resource.healthcare_service_ids.flatMap((id) => {
      const service = byId.get(id);
      return service ? [{ resource, service }] : [];
    }),
  );
  return { resources, services, agendas };
}

export async function allResources(request: FastifyRequest): Promise<readonly ResourceBody[]> {
  return (await all(request, listResources)).flatMap(({ resources }) => resources);
}

export async function allServices(request: FastifyRequest): Promise<readonly ServiceBody[]> {
  return (await all(request, listHealthcareServices)).flatMap(({ healthcare_services: services }) => services);
}

export function agendasById({ agendas }: Directory): ReadonlyMap<string, Agenda> {
  return new Map(agendas.map((it) => [agendaId(it), it]));
}

/** What Appointments say of other records. If the EHR does not say what there is, an Appointment is shown with fewer names. */
export async function appointmentNamesIn(request: FastifyRequest): Promise<AppointmentNames> {
  return appointmentNames(accessOf(request), await readDirectory(request).catch(() => undefined));
}

/**
 * A client that may not list services gets their ids, and of practitioners, rooms and devices no names.
 *
 * @param directory absent: it is not known
 */
export function appointmentNames({ client, ehr, careUnit }: Access, directory?: Directory): AppointmentNames {
  const resources = new Map(directory?.resources.map((it) => [it.id, it]));
  const isAllowed = maySeeResource(client, 'HealthcareService');
  const names = new Map(directory?.services.map(({ id, name }) => [id, name]));
  return {
    careUnit,
    patients: patientNames(ehr),
    typeOf(id) {
      const kind = resources.get(id)?.kind;
      return kind && typeOfKind[kind];
    },
    nameOfResource(id) {
      const found = resources.get(id);
      return found && maySeeResource(client, typeOfKind[found.kind]) ? found.name : undefined;
    },
    nameOfService: (id) => (isAllowed ? names.get(id) : undefined),
    identifiers: new Map(),
  };
}
