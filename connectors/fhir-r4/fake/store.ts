import { randomUUID } from 'node:crypto';
import { compare, type FhirResource, type Reference } from '../src/fhir.ts';

export type Stored = FhirResource & Readonly<Record<string, unknown>>;

/** An error response: its HTTP status, and the code of its OperationOutcome. */
export class Rejected extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/** A version of an Appointment. Without `resource`: it was deleted. */
export interface Version {
  readonly reference: string;
  readonly versionId: string;
  readonly lastUpdated: string;
  readonly resource?: Stored;
}

/** Resources in memory, each with a version. */
export class Store {
  #resources = new Map<string, Stored>();
  /** Versions of Appointments, the oldest first. */
  readonly #versions: Version[] = [];
  readonly lostClaimStatus: number;
  readonly heedsIfMatch: boolean;
  readonly wholeSeconds: boolean;

  constructor({ lostClaimStatus = 412, heedsIfMatch = true, wholeSeconds = false } = {}) {
    this.wholeSeconds = wholeSeconds;
    this.lostClaimStatus = lostClaimStatus;
    this.heedsIfMatch = heedsIfMatch;
  }

  get(reference: string): Stored {
    const found = this.#resources.get(reference);
    if (!found && this.history(reference).length > 0) throw new Rejected(410, 'deleted');
    if (!found) throw new Rejected(404, 'not-found');
    return found;
  }

  has(reference: string): boolean {
    return this.#resources.has(reference);
  }

  all(type: string): Stored[] {
    return [...this.#resources.values()].filter(({ resourceType }) => resourceType === type);
  }

  save<Resource extends FhirResource>(resource: Resource, at = new Date()): Stored {
    const id = resource.id ?? randomUUID();
    const reference = `${resource.resourceType}/${id}`;
    const meta = this.#nextVersion(reference, at);
    const stored = { ...resource, id, meta } as Stored;
    this.#resources.set(reference, stored);
    if (isAppointment(reference)) this.#versions.push({ reference, ...meta, resource: stored });
    return stored;
  }

  /** The versions of an Appointment, or of all of them, the newest first. */
  history(reference?: string): readonly Version[] {
    const found = this.#versions.filter((it) => reference === undefined || it.reference === reference);
    return found.reverse();
  }

  #nextVersion(reference: string, at = new Date()): Pick<Version, 'versionId' | 'lastUpdated'> {
    const current = this.#resources.get(reference)?.meta?.versionId;
    const former =
      isAppointment(reference) && current === undefined ? this.history(reference)[0]?.versionId : undefined;
    const now = at.toISOString();
    const lastUpdated = this.wholeSeconds ? now.replace(/\.\d+Z$/, 'Z') : now;
    return { versionId: String(Number(current ?? former ?? 0) + 1), lastUpdated };
  }

  create(
    resource: FhirResource,
    ifNoneExist: string | undefined,
  ): { readonly stored: Stored; readonly isNew: boolean } {
    if (ifNoneExist !== undefined) {
      const [existing, another] = this.search(resource.resourceType, new URLSearchParams(ifNoneExist));
      if (another) throw new Rejected(412, 'multiple-matches');
      if (existing) return { stored: existing, isNew: false };
    }
    const { id: _, ...rest } = resource;
    return { stored: this.save(rest as FhirResource), isNew: true };
  }

  update(reference: string, resource: FhirResource, ifMatch: string | undefined): Stored {
    const version = /"([^"]*)"/.exec(ifMatch ?? '')?.[1];
    const current = this.get(reference);
    if (version !== undefined && this.heedsIfMatch && current.meta?.versionId !== version) {
      throw new Rejected(this.lostClaimStatus, 'conflict');
    }
    if (`${resource.resourceType}/${resource.id}` !== reference) throw new Rejected(400, 'invalid');
    return this.save(resource);
  }

  remove(reference: string): void {
    const version = { reference, ...this.#nextVersion(reference) };
    if (this.#resources.delete(reference) && isAppointment(reference)) this.#versions.push(version);
  }

  /** Runs `work`. If it throws, nothing has changed. */
  atomically<Result>(work: () => Result): Result {
    const before = new Map(this.#resources);
    const { length } = this.#versions;
    try {
      return work();
    } catch (error) {
      this.#resources = before;
      this.#versions.length = length;
      throw error;
    }
  }

  /** Knows the search parameters that the connector uses, and ignores others. `backwards` reverses what is not sorted. */
  search(type: string, parameters: URLSearchParams, { backwards = false } = {}): Stored[] {
    const all = backwards ? this.all(type).reverse() : this.all(type);
    const wanted = [...parameters];
    const found = all.filter((resource) => wanted.every(([name, value]) => this.#matches(resource, name, value)));
    const keys = parameters.get('_sort')?.split(',') ?? [];
    return found.sort((a, b) => {
      for (const key of keys) {
        const order = inOrder(key, a, b);
        if (order !== 0) return order;
      }
      return 0;
    });
  }

  #matches(resource: Stored, name: string, value: string): boolean {
    const values = value.split(',');
    switch (name) {
      case '_lastUpdated':
        return Date.parse(lastUpdated(resource)) >= Date.parse(value.slice('ge'.length));
      case '_id':
        return values.includes(resource.id ?? '');
      case 'status':
        return values.includes(String(resource.status));
      case 'identifier':
        return list(resource.identifier).some(({ system, value: number }) =>
          [`${system}|${number}`, `${system}|`].some((token) => values.includes(token)),
        );
      case 'slot':
        return list(resource.slot).some((it) => refersTo(it, values));
      case '-location':
        return list(resource.extension).some(({ valueReference }) => refersTo(valueReference, [`Location/${value}`]));
      case 'schedule':
        return refersTo(resource.schedule, values);
      case 'schedule.actor':
        return list(this.get((resource.schedule as Reference).reference ?? '').actor).some((it) =>
          refersTo(it, values),
        );
      case 'actor':
      case 'patient': {
        if (resource.resourceType === 'DocumentReference') return refersTo(resource.subject, values);
        const actors =
          resource.resourceType === 'Schedule'
            ? list(resource.actor)
            : list(resource.participant).map(({ actor }) => actor as Reference);
        return actors.some((it) => refersTo(it, values));
      }
      case 'patient:identifier':
      case 'actor:identifier':
        return list(resource.participant).some(({ actor }) => {
          const { system, value: number } = (actor as Reference | undefined)?.identifier ?? {};
          return values.includes(`${system}|${number}`);
        });
      case 'family':
        return list(resource.name).some(({ family }) =>
          values.some((it) => String(family).toLowerCase().startsWith(it.toLowerCase())),
        );
      case 'name':
        return list(resource.name).some(({ family, given, text }) =>
          [family, given, text].some((part) =>
            String(part ?? '')
              .toLowerCase()
              .split(/[\s,]+/)
              .some((word) => values.some((it) => word.startsWith(it.toLowerCase().split(' ')[0] ?? ''))),
          ),
        );
      case 'birthdate':
        return resource.birthDate === value;
      case 'phone':
        return list(resource.telecom).some(
          ({ system, value: number }) => system === 'phone' && values.includes(String(number)),
        );
      case 'link':
        return list(resource.link).some(({ other }) => refersTo(other, values));
      case 'location':
        if (isAppointment(`${resource.resourceType}/`)) return this.#matches(resource, 'actor', value);
        return [resource.location].flat().some((it) => refersTo(it, values));
      case 'partof':
        return refersTo(resource.partOf, values);
      case 'organization':
        return [resource.organization, resource.managingOrganization, resource.owner].some((it) =>
          refersTo(it, values),
        );
      case 'practitioner':
        if (isAppointment(`${resource.resourceType}/`)) return this.#matches(resource, 'actor', value);
        return refersTo(resource.practitioner, values);
      case 'category':
        return list(resource.category).some(({ coding }) =>
          list(coding).some(({ system, code }) => values.includes(`${system}|${code}`)),
        );
      case 'author':
        return list(resource.author).some((it) => refersTo(it, values));
      case 'date:missing':
        return (dateOf(resource) === '') === (value === 'true');
      case 'start':
      case 'date':
        return inBound(timeOf(resource), value);
      default:
        return true;
    }
  }
}

function isAppointment(reference: string): boolean {
  return reference.startsWith('Appointment/');
}

/** What `date` means: the start of an Appointment or Slot, the date of a DocumentReference. */
function dateOf(resource: Stored): string {
  return String((resource.resourceType === 'DocumentReference' ? resource.date : resource.start) ?? '');
}

function inOrder(key: string, a: Stored, b: Stored): number {
  if (key === '_id') return compare(a.id ?? '', b.id ?? '');
  if (key === '_lastUpdated') return Date.parse(lastUpdated(a)) - Date.parse(lastUpdated(b));
  if (key === '-date') return timeOf(b) - timeOf(a);
  return timeOf(a) - timeOf(b);
}

/** Of each version, because a search compares thousands of slots. */
const times = new WeakMap<Stored, number>();

function timeOf(resource: Stored): number {
  const time = times.get(resource) ?? Date.parse(dateOf(resource));
  times.set(resource, time);
  return time;
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value : [];
}

function refersTo(reference: unknown, wanted: readonly string[]): boolean {
  return wanted.includes(String((reference as Reference | undefined)?.reference));
}

/** https://hl7.org/fhir/R4/search.html#prefix. A date without a prefix matches nothing, as on some servers. */
function inBound(at: number, bound: string): boolean {
  const wanted = Date.parse(bound.slice(2));
  if (bound.startsWith('ge')) return at >= wanted;
  if (bound.startsWith('lt')) return at < wanted;
  return false;
}

function lastUpdated({ meta }: Stored): string {
  return meta?.lastUpdated ?? '';
}
