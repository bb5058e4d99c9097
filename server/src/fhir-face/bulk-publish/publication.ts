import type { Location, Resource, Schedule, Slot } from '@medplum/fhirtypes';
import type { FastifyInstance } from 'fastify';
import type { EndpointDeps } from '../../api/endpoint.ts';
import type { PublicationSettings } from '../../config/schema/publication.ts';
import { within } from '../../context/work-context.ts';
import { newDatabaseTime } from '../../db/time-limit.ts';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import { unavailable } from '../../problems/problem.ts';
import { findFreeSlots } from '../../slot-search/search.ts';
import { formatInstant } from '../../time/date-times.ts';
import type { InCareUnit } from '../../writes/write-kind.ts';
import { asOf } from '../all-units/slots.ts';
import { qualify, unitName } from '../all-units/unit-names.ts';
import { logMistakes, type MissingUnit, missingUnit, readDirectories } from '../all-units/units.ts';
import type { Directory } from '../directory.ts';
import { careUnitLocationId, emrIdOf } from '../ids.ts';
import { pairOf } from '../slots.ts';
import { serviceTypesOf } from '../to-fhir/resource.ts';
import { type Agenda, agendaId, toSlot } from '../to-fhir/schedule-and-slot.ts';
import { urls } from '../urls.ts';

/*
 * What a care unit publishes, by the rules of SMART Scheduling Links:
 * https://github.com/smart-on-fhir/smart-scheduling-links/blob/master/specification.md
 */

/** A care unit whose free times are public. */
export interface PublicUnit extends InCareUnit {
  readonly publication: PublicationSettings;
}

export interface Published {
  readonly unit: PublicUnit;
  readonly at: Date;
  readonly location: Location;
  readonly schedules: readonly Schedule[];
  /** A file: see `ndjson`. */
  readonly slots: string;
  /** Free times may be missing. */
  readonly missing: readonly MissingUnit[];
}

type Deps = Pick<EndpointDeps, 'services' | 'slots' | 'sameServices'> & Pick<FastifyInstance, 'log'>;

/** Seconds for which a publication is used. However many ask, a process makes one of a care unit in this time. */
export const publicationSeconds = 60;
/** Seconds. The EHR is asked for what is older, if it has nothing else to do. */
const mostAge = 300;
const days = 28;
const mostSlots = 1_000;
/** Milliseconds that a publication waits for the EHR. */
const longestWait = 3_000;

export function publicUnits({ services }: Pick<EndpointDeps, 'services'>): readonly PublicUnit[] {
  return [...services.ehrs.values()].flatMap((ehr) =>
    [...ehr.careUnits.values()].flatMap((careUnit) => {
      const { publication } = careUnit;
      return publication ? [{ ehr, careUnit, publication }] : [];
    }),
  );
}

/** By connection: a changed EHR has others. */
const made = new WeakMap<CareUnitConnection, { readonly until: number; readonly published: Promise<Published> }>();

/** What a care unit publishes now, from what is kept and, at most once in `publicationSeconds`, from the EHR. */
export function publish(unit: PublicUnit, deps: Deps): Promise<Published> {
  const known = made.get(unit.careUnit);
  if (known && performance.now() < known.until) return known.published;
  // For no caller: whoever asks next gets it, too.
  const published = within({ databaseTime: newDatabaseTime() }, () => read(unit, deps));
  made.set(unit.careUnit, { until: performance.now() + publicationSeconds * 1000, published });
  published.catch(() => made.delete(unit.careUnit));
  return published;
}

async function read(unit: PublicUnit, deps: Deps): Promise<Published> {
  const at = new Date();
  const { directory, missing } = await readDirectory(unit, deps);
  const { slots, missing: silent } = directory ? await readSlots(unit, directory, deps) : { slots: [], missing };
  const agendas = directory?.agendas ?? [];
  logMistakes(silent, deps.log);
  const isKnown = silent.length === 0;
  return {
    unit,
    at,
    location: toLocation(unit),
    schedules: agendas.flatMap((it) => toPublicSchedule(it, unit, isKnown) ?? []),
    slots: ndjson(slots),
    missing: silent,
  };
}

/** The last ones that EHRs have shown, by connection. */
const directories = new WeakMap<CareUnitConnection, Directory>();

/** Clients go first: a busy EHR is not asked. */
async function readDirectory(
  unit: PublicUnit,
  deps: Deps,
): Promise<{ readonly directory: Directory | undefined; readonly missing: readonly MissingUnit[] }> {
  const { answered, missing } = unit.ehr.isIdle()
    ? await readDirectories([unit], ['resources', 'services'], deps)
    : { answered: [], missing: [missingUnit(unit, unavailable('overloaded'))] };
  const [read] = answered;
  if (read) directories.set(unit.careUnit, read.directory);
  return { directory: directories.get(unit.careUnit), missing };
}

async function readSlots(unit: PublicUnit, { agendas }: Directory, { services, slots }: Deps) {
  const { ehr, careUnit } = unit;
  const start = new Date();
  const { found, unanswered } = await findFreeSlots(services.db, slots, {
    units: [
      {
        ...unit,
        serviceIds: undefined,
        start,
        end: new Date(start.getTime() + days * 86_400_000),
        needsResources: false,
        accepts: () => true,
      },
    ],
    maxAgeSeconds: mostAge,
    waitMs: longestWait,
    after: undefined,
    limit: mostSlots,
    // Clients go first.
    mayAsk: async () => (ehr.isIdle() ? undefined : unavailable('overloaded')),
  });
  const byPair = new Map(agendas.map((it) => [pairOf(emrIdOf(it.resource.id), it.service.id), it]));
  const shown = found.slice(0, mostSlots).flatMap(({ slot, askedAt }) => {
    const agenda = byPair.get(pairOf(slot[2], slot[3]));
    const [from = '', to = ''] = [slot[0], slot[1]].map((it) => formatInstant(new Date(it), careUnit.timeZone));
    return (agenda && toPublicSlot(asOf(toSlot(agenda, { start: from, end: to }, 'free'), askedAt), unit)) ?? [];
  });
  return { slots: shown, missing: unanswered };
}

function locationId(unit: InCareUnit): string {
  return qualify(careUnitLocationId(unit.careUnit.id), unit) as string;
}

function toLocation(unit: PublicUnit): Location {
  const { publication, careUnit } = unit;
  const { phone, website, address } = publication;
  return {
    resourceType: 'Location',
    id: locationId(unit),
    identifier: [{ system: urls.careUnit, value: unitName(unit) }],
    status: 'active',
    name: careUnit.name,
    telecom: [
      ...(phone === undefined ? [] : [{ system: 'phone' as const, value: phone }]),
      { system: 'url', value: website },
    ],
    address: {
      line: address.lines,
      city: address.city,
      state: address.state,
      postalCode: address.postal_code,
      ...(address.country === undefined ? {} : { country: address.country }),
    },
  };
}

/** Of a service at the place: nobody who works there is named. `undefined`: its id is too long. */
function toPublicSchedule(agenda: Agenda, unit: PublicUnit, isKnown: boolean): Schedule | undefined {
  const id = qualify(agendaId(agenda), unit);
  if (id === undefined) return undefined;
  return {
    resourceType: 'Schedule',
    id,
    ...(isKnown ? {} : { extension: [{ url: `${registry}/has-availability`, valueCode: 'unknown' }] }),
    active: true,
    serviceType: serviceTypesOf(agenda.service),
    actor: [{ reference: `Location/${locationId(unit)}` }],
  };
}

const registry = 'http://fhir-registry.smarthealthit.org/StructureDefinition';

function toPublicSlot(
  { resourceType, id: own = '', meta, schedule, ...slot }: Slot,
  unit: PublicUnit,
): Slot | undefined {
  const id = qualify(own, unit);
  const scheduleId = qualify((schedule.reference ?? '').slice('Schedule/'.length), unit);
  if (id === undefined || scheduleId === undefined) return undefined;
  const { phone } = unit.publication;
  const valueUrl = bookingUrl(unit, { slot: id, schedule: scheduleId, location: locationId(unit), start: slot.start });
  return {
    resourceType,
    id,
    ...(meta && { meta }),
    extension: [
      { url: `${registry}/booking-deep-link`, valueUrl },
      ...(phone === undefined ? [] : [{ url: `${registry}/booking-phone`, valueString: phone }]),
    ],
    schedule: { reference: `Schedule/${scheduleId}` },
    ...slot,
  };
}

function bookingUrl({ publication }: PublicUnit, values: Readonly<Record<string, string>>): string {
  return publication.booking_url.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** A file of resources, one a line: http://ndjson.org */
export function ndjson(resources: readonly Resource[]): string {
  return resources.map((it) => `${JSON.stringify(it)}\n`).join('');
}
