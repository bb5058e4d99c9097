import { ConnectorError, type LeftOutRecord } from '@crossward/connector-kit';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FhirResource } from '../../fhir.ts';
import { type LocalTimes, localTimes } from './local-times.ts';
import { bundleSchema, entrySchema, outcomeSchema, receivedSchemas } from './schemas.ts';

export interface ReceiverOptions {
  /** The base URLs under which the server names its own resources. */
  readonly ownBaseUrls: readonly string[];
  /** The zone of moments without an offset. `undefined`: they are not read. */
  readonly localTimeZone?: string | undefined;
  /** The status of Appointments that means `booked`, besides that. */
  readonly bookedStatus?: string | undefined;
  /** Called for each moment without an offset. */
  sawLocalTime(): void;
  leftOut(record: LeftOutRecord): void;
}

/** Looks at everything that a server sends, once, before anything else reads it. */
export interface Receiver {
  /**
   * The body as its readers expect it. An entry of a Bundle that cannot be read is left out and counted.
   *
   * @throws ConnectorError `rejected` for a resource that cannot be read. The message says where, with nothing from it
   */
  receive(body: unknown): unknown;
  /** As `receive`, for the answer to a write or a refusal. `undefined` for a resource that cannot be read. */
  attempt(body: unknown): unknown;
  /** Counts a record of a list that lacks what the list is for, such as its id. */
  leftOut(record: LeftOutRecord): void;
}

const validators = new Map(
  Object.entries({ ...receivedSchemas, Bundle: bundleSchema, OperationOutcome: outcomeSchema }).map(
    ([type, schema]) => [type, validator(schema)],
  ),
);
const pathInEntry = validator(entrySchema);
/** Their entries answer those of a request, by their places. */
const responses: readonly unknown[] = ['transaction-response', 'batch-response'];

export function createReceiver(options: ReceiverOptions): Receiver {
  const { ownBaseUrls, localTimeZone, bookedStatus, leftOut } = options;
  const own = ownReferences(ownBaseUrls);
  const readings = { own, local: localTimes(localTimeZone, options.sawLocalTime), bookedStatus };

  function entriesOf(bundle: { readonly entry: readonly unknown[] }): unknown[] {
    return bundle.entry.filter((entry) => {
      // It stands for no record.
      if (entry === null) return false;
      const inEntry = pathInEntry(entry);
      if (inEntry !== undefined) {
        leftOut({ type: 'Bundle', path: `/entry${inEntry}` });
        return false;
      }
      const { resource } = entry as { readonly resource?: FhirResource };
      const path = faultIn(resource);
      if (!resource || path === undefined) return true;
      leftOut({ type: knownType(resource), id: idOf(resource), path });
      return false;
    });
  }

  const receiver: Receiver = {
    leftOut,
    attempt(body) {
      try {
        return receiver.receive(body);
      } catch (error) {
        if (error instanceof ConnectorError) return undefined;
        throw error;
      }
    },
    receive(body) {
      const tidied = tidy(body, readings);
      const path = faultIn(tidied);
      if (path !== undefined) {
        throw new ConnectorError(
          'rejected',
          `The EHR sent a ${knownType(tidied)} that cannot be read, at ${path || 'its root'}`,
        );
      }
      if (!isBundle(tidied) || responses.includes(tidied.type)) return tidied;
      const entry = entriesOf(tidied);
      const unreadable = tidied.entry.length - entry.length;
      return { ...tidied, entry, ...(unreadable > 0 ? { unreadable } : {}) };
    },
  };
  return receiver;
}

/** Whether the connector can read a resource that another one contains. */
export function isReadable(body: unknown): boolean {
  return typeIn(body) !== undefined && faultIn(body) === undefined;
}

/** A JSON Pointer to the first element of a wrong shape. `undefined`: none, or nobody reads this type of resource. */
function faultIn(body: unknown): string | undefined {
  return validators.get(typeIn(body) ?? '')?.(body);
}

function validator(schema: TSchema): (value: unknown) => string | undefined {
  const compiled = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return undefined;
    return compiled.Errors(value)[0]?.instancePath ?? '';
  };
}

function typeIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('resourceType' in body)) return undefined;
  return typeof body.resourceType === 'string' ? body.resourceType : undefined;
}

/** The type as it may be told to operators: a server can write anything into it. */
function knownType(body: unknown): string {
  const type = typeIn(body) ?? '';
  return validators.has(type) ? type : 'resource';
}

function idOf({ id }: { readonly id?: unknown }): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

function isBundle(body: unknown): body is { readonly type?: string; readonly entry: readonly unknown[] } {
  return typeIn(body) === 'Bundle' && Array.isArray((body as { readonly entry?: unknown }).entry);
}

/** What the texts of a body mean here. */
interface Readings {
  readonly own: OwnReferences;
  readonly local: LocalTimes;
  readonly bookedStatus: string | undefined;
}

/** Deeper than any resource: a body that is nested more is left as it is. */
const deepest = 60;

/**
 * Brings a body as it was parsed to the form that its readers expect, in place:
 *
 * - Members that are `null` are removed. FHIR does not allow them, and some servers send them.
 * - `null` in a list of primitive values is removed. It stands for a value that only an extension describes:
 *   https://hl7.org/fhir/R4/json.html#primitive
 * - Absolute references to the server itself become relative.
 * - Moments without an offset get that of the EHR's time zone, if the settings name it.
 * - The status of an Appointment becomes `booked`, if it is the one that the settings name.
 */
function tidy(body: unknown, readings: Readings, depth = 0): unknown {
  if (typeof body !== 'object' || body === null || depth > deepest) return body;
  if (Array.isArray(body)) {
    const items = body.every((it) => typeof it !== 'object' || it === null) ? body.filter((it) => it !== null) : body;
    for (const item of items) tidy(item, readings, depth + 1);
    return items;
  }
  const members = body as Record<string, unknown>;
  const { bookedStatus } = readings;
  if (bookedStatus !== undefined && members.status === bookedStatus && typeIn(body) === 'Appointment')
    members.status = 'booked';
  for (const [name, value] of Object.entries(members)) {
    if (value === null) delete members[name];
    else if (typeof value === 'string') {
      members[name] = name === 'reference' ? readings.own(value) : readings.local(name, value);
    }
    // The siblings of a list of primitive values describe them by their places.
    else if (typeof value === 'object' && !name.startsWith('_')) members[name] = tidy(value, readings, depth + 1);
  }
  return body;
}

/** Maps an absolute reference to the server itself to a relative one, and leaves every other as it is. */
type OwnReferences = (reference: string) => string;

/**
 * References that name one of these base URLs are relative ones: `https://ehr.example/fhir/Patient/1` is `Patient/1` there. The
 * same path at another server is another record: https://hl7.org/fhir/R4/references.html#literal
 */
function ownReferences(baseUrls: readonly string[]): OwnReferences {
  const prefixes = [...new Set(baseUrls.map(prefixOf))];
  return (reference) => {
    if (!/^https?:/i.test(reference)) return reference;
    const url = URL.parse(reference)?.href;
    const prefix = prefixes.find((it) => url?.startsWith(it));
    return url === undefined || prefix === undefined ? reference : url.slice(prefix.length);
  };
}

/** In the normal form of a URL: the host in lower case, without the default port. */
function prefixOf(baseUrl: string): string {
  return `${new URL(baseUrl).href.replace(/\/+$/, '')}/`;
}
