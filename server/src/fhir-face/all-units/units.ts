import type { OperationOutcomeIssue } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { EndpointDeps } from '../../api/endpoint.ts';
import { healthcareServiceBody } from '../../healthcare-services/routes.ts';
import { describeError } from '../../log/describe-error.ts';
import { Problem } from '../../problems/problem.ts';
import { type Reason, reasons } from '../../problems/reasons.ts';
import { resourceBody } from '../../resources/routes.ts';
import { searchableIn } from '../../slot-search/services.ts';
import type { InCareUnit } from '../../writes/write-kind.ts';
import { type Directory, directoryOf } from '../directory.ts';
import type { ListedType } from '../directory-search.ts';
import { baseOf } from '../face.ts';
import { careUnitLocationId } from '../ids.ts';
import { issueTypes } from '../issue-types.ts';
import { groupsOf, type Search } from '../search/input.ts';
import { escaped } from '../search/parameters.ts';
import { urls } from '../urls.ts';
import { clientOf, grantedUnits, idIn, qualify } from './unit-names.ts';

/** A search in one care unit, with the ids that it knows. */
export interface UnitRequest extends InCareUnit {
  readonly request: FastifyRequest;
  readonly search: Search;
}

/** Parameters whose values are ids or references. */
const naming = [
  ...['_id', 'schedule', 'actor', 'schedule.actor', 'Schedule.actor'],
  ...['practitioner', 'organization', 'location', 'service'],
];

/** The care units in which a search can find something: all that the client is granted, or those that it names. */
export function unitRequests(request: FastifyRequest, search: Search): readonly UnitRequest[] {
  return grantedUnits(request).flatMap((unit) => {
    const own = localSearch(search, unit, request);
    // The request in every other respect: its client, its limits, its base URL.
    const access = { client: clientOf(request), ...unit };
    return own ? [{ ...unit, search: own, request: Object.create(request, { access: { value: access } }) }] : [];
  });
}

/** `undefined`: it names other care units only. */
function localSearch(search: Search, unit: InCareUnit, request: FastifyRequest): Search | undefined {
  const filters = new Map(search.filters);
  for (const name of [...filters.keys()].filter((it) => naming.includes(it))) {
    const groups = groupsOf(search, name).map((texts) => texts.flatMap((it) => localName(it, unit, request) ?? []));
    if (groups.some((it) => it.length === 0)) return undefined;
    filters.set(
      name,
      groups.map((it) => it.map(escaped).join(',')),
    );
  }
  return { ...search, filters };
}

function localName(text: string, unit: InCareUnit, request: FastifyRequest): string | undefined {
  const base = `${baseOf(request)}/`;
  const [type = '', id] = (text.startsWith(base) ? text.slice(base.length) : text).split('/');
  const local = idIn(id ?? type, unit);
  return local === undefined || id === undefined ? local : `${type}/${local}`;
}

/** A care unit of which something may be missing. */
export interface MissingUnit {
  readonly unit: InCareUnit;
  readonly reason: Reason;
  readonly detail: string;
  readonly cause?: unknown;
  /** `null`: it will not answer. */
  readonly retryAfterSeconds: number | null;
}

/** Each care unit that did not answer, for the OperationOutcome of the Bundle. */
export function outcomesOf(missing: readonly MissingUnit[], { log }: FastifyRequest): OperationOutcomeIssue[] {
  logMistakes(missing, log);
  return missing.map((it) => {
    const { ehr, careUnit } = it.unit;
    return { ...issueOf(it, it.detail), diagnostics: `Care unit ${ehr.id}/${careUnit.id}` };
  });
}

export function logMistakes(missing: readonly MissingUnit[], log: FastifyRequest['log']): void {
  for (const { unit, reason, cause } of missing) {
    if (reason === 'internal_error') log.error({ emr: unit.ehr.id, cause: describeError(cause) }, 'search failed');
  }
}

/** Names the Location of the care unit. */
export function issueOf({ unit, reason, retryAfterSeconds }: MissingUnit, detail: string): OperationOutcomeIssue {
  const location = qualify(careUnitLocationId(unit.careUnit.id), unit);
  const again = retryAfterSeconds === null ? '' : ` Ask again in ${Math.ceil(retryAfterSeconds)} seconds.`;
  return {
    extension: [{ url: urls.careUnit, valueReference: { reference: `Location/${location}` } }],
    severity: 'warning',
    code: issueTypes[reason].type,
    details: {
      coding: [{ system: urls.reasons, code: reason, display: reasons[reason].title }],
      text: `${detail}${again}`,
    },
  };
}

/** Milliseconds that a search waits for the directories of EHRs, which are kept for some minutes. */
const directoryWait = 1_000;

/** What the care units have, as far as they have answered. */
export async function readDirectories<Unit extends InCareUnit>(
  units: readonly Unit[],
  needs: ListedType['needs'],
  deps: Pick<EndpointDeps, 'slots' | 'sameServices'>,
): Promise<{ readonly answered: readonly (Unit & { directory: Directory })[]; readonly missing: MissingUnit[] }> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), directoryWait);
  const missing: MissingUnit[] = [];
  const read = async (unit: Unit) => {
    try {
      const directory = await Promise.race([keptDirectory(unit, needs, deps), late]);
      if (directory) return [{ ...unit, directory }];
      throw new Problem('ehr_timeout', { detail: 'The EHR has not answered yet.' });
    } catch (error) {
      missing.push(missingUnit(unit, error));
      return [];
    }
  };
  const answered = await Promise.all(units.map(read)).finally(() => clearTimeout(timer));
  return { answered: answered.flat(), missing };
}

/** A mistake in one connector does not fail the search of the others. */
export function missingUnit(unit: InCareUnit, error: unknown): MissingUnit {
  const { reason, detail, retryable, headers, cause } =
    error instanceof Problem ? error : new Problem('internal_error', { cause: error });
  return { unit, reason, detail, cause, retryAfterSeconds: retryable ? Number(headers['retry-after'] ?? 1) : null };
}

async function keptDirectory(
  unit: InCareUnit,
  needs: ListedType['needs'],
  { slots, sameServices }: Pick<EndpointDeps, 'slots' | 'sameServices'>,
): Promise<Directory> {
  const [resources, services] = await Promise.all([
    needs.includes('resources') ? slots.resourcesOf(unit) : new Map<string, never>(),
    needs.includes('services') ? slots.servicesOf(unit) : [],
  ]);
  const configured = sameServices();
  const same = searchableIn(configured, unit, services).filter((it) =>
    configured.some(({ code }) => code === it.service),
  );
  // A service that means the same in all care units is one more code.
  const codesOf = (id: string) =>
    same
      .filter(({ ids }) => ids.includes(id))
      .map(({ service, name }) => ({ system: urls.sameService, code: service, display: name }));
  const bodies = services.map(healthcareServiceBody).map((it) => ({ ...it, codes: [...codesOf(it.id), ...it.codes] }));
  return directoryOf([...resources.values()].map(resourceBody), bodies);
}
