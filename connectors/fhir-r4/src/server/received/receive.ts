import { ConnectorError, type LeftOutRecord } from '@crossward/connector-kit';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FhirResource } from '../../fhir.ts';
import { localTimes } from './local-times.ts';
import { ownReferences } from './own-references.ts';
import { bundleSchema, entrySchema, outcomeSchema, receivedSchemas } from './schemas.ts';
import { tidy } from './tidy.ts';

export interface ReceiverOptions {
  /** The base URLs under which the server names its own resources. */
  readonly ownBaseUrls: readonly string[];
  /** The zone of moments without an offset. `undefined`: they are not read. */
  readonly localTimeZone?: string | undefined;
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
  const { ownBaseUrls, localTimeZone, leftOut } = options;
  const readings = { own: ownReferences(ownBaseUrls), local: localTimes(localTimeZone, options.sawLocalTime) };

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
