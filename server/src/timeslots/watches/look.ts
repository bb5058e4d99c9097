import type { Client, ClientRegistry } from '../../clients/client-registry.ts';
import type { ConfiguredService } from '../../config/schema/services.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrRegistry } from '../../ehr/registry.ts';
import type { NewEvent } from '../../events/new-event.ts';
import { formatIdentifier } from '../../identifiers/index.ts';
import { inBody } from '../../problems/places.ts';
import { Problem } from '../../problems/problem.ts';
import type { Asker } from '../../slot-search/ask.ts';
import type { UnitSearch } from '../../slot-search/progress.ts';
import { type FoundSlot, findFreeSlots } from '../../slot-search/search.ts';
import { formatInstant } from '../../time/date-times.ts';
import type { WorkServices } from '../../writes/write-kind.ts';
import { unitsOf } from '../search-units.ts';
import { watchScope } from './contract.ts';
import { compareSeen } from './seen.ts';
import { claimLook, endLook, type Look, type WatchedSearch } from './store.ts';

/** Slots that a look compares at most, the first ones. */
const limit = 500;
/** What others have asked within this time is not asked again. */
const maxAgeSeconds = 60;
const waitMs = 2_000;

export interface Looking extends Pick<WorkServices, 'db' | 'keys'> {
  readonly ehrs: EhrRegistry;
  readonly clients: Pick<ClientRegistry, 'find'>;
  readonly slots: Asker;
  sameServices(): readonly ConfiguredService[];
  /** Of `claimLook`. */
  readonly turns: Set<string>;
}

/** Looks for one watch that is due. Returns whether there was one. */
export async function lookForOne(looking: Looking): Promise<boolean> {
  const look = await claimLook(looking.db, looking.keys, looking.turns);
  if (look === 'none') return false;
  if (look !== 'unreadable') await lookFor(looking, look);
  return true;
}

async function lookFor(looking: Looking, look: Look): Promise<void> {
  const { db, keys, clients, slots } = looking;
  const client = clients.find(look.clientId);
  const units = client?.scopes.has(watchScope) ? unitsNow(looking, client, look.search) : [];
  if (units.length === 0) return;
  const found = await findFreeSlots(db, slots, {
    units: units.map(quietly),
    maxAgeSeconds,
    waitMs,
    after: undefined,
    limit,
    mayAsk: onlyIdle(looking.ehrs),
  });
  const { seen, fresh } = compareSeen(look.seen, units, found, limit);
  await endLook(db, keys, look, seen, fresh[0] && eventOf(look, fresh[0], fresh.length));
}

/** Where the client may look now. None, if what the watch names is not configured any more. */
function unitsNow({ ehrs, sameServices }: Looking, client: Client, search: WatchedSearch): readonly UnitSearch[] {
  const isGranted = ({ emr, care_unit_id }: { readonly emr: string; readonly care_unit_id: string }) =>
    client.grants.get(emr)?.has(care_unit_id) && ehrs.get(emr)?.careUnits.has(care_unit_id);
  const body = { ...search, ...(search.care_units && { care_units: search.care_units.filter(isGranted) }) };
  try {
    return unitsOf({
      client,
      ehrs,
      sameServices,
      readHeader: () => undefined,
      body,
      inSearch: inBody,
    });
  } catch (error) {
    if (error instanceof Problem && error.origin === 'caller') return [];
    throw error;
  }
}

/** An EHR that is away is not called. */
function quietly(unit: UnitSearch): UnitSearch {
  const isThere = unit.ehr.isOpen && unit.ehr.health().breaker === 'closed';
  return isThere ? unit : { ...unit, failure: unit.failure ?? new Problem('ehr_unavailable') };
}

/** Callers come first: an EHR is asked only if it had nothing else to do when the look came to it. */
function onlyIdle(ehrs: EhrRegistry): (emr: string) => Promise<Problem | undefined> {
  const known = new Map<string, boolean>();
  const isIdle = (ehr: EhrConnection | undefined) => ehr?.isIdle() ?? false;
  return async (emr) => {
    const may = known.get(emr) ?? isIdle(ehrs.get(emr));
    known.set(emr, may);
    return may ? undefined : new Problem('ehr_unavailable');
  };
}

function eventOf({ id, clientId }: Look, { unit: { ehr, careUnit }, slot }: FoundSlot, count: number): NewEvent {
  const [start, end, resourceId, healthcare_service_id] = slot;
  return {
    type: 'timeslot.found',
    emr: ehr.id,
    careUnitId: careUnit.id,
    clientId,
    subject: id,
    data: {
      watch_id: id,
      start: formatInstant(new Date(start), careUnit.timeZone),
      end: formatInstant(new Date(end), careUnit.timeZone),
      resource_id: formatIdentifier({ type: 'emr_id', value: resourceId }),
      healthcare_service_id,
      count,
    },
  };
}
