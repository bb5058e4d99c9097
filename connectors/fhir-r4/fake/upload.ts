import { setTimeout as pause } from 'node:timers/promises';
import type { FhirResource } from '../src/fhir.ts';
import { referenceTo, storedReference } from '../src/fhir.ts';

/** The identifier system that marks a resource of the data set on a server that assigns its own ids. */
const dataSetSystem = 'urn:crossward:data-set';
const mediaType = 'application/fhir+json';
const attempts = 5;

export interface Target {
  readonly baseUrl: string;
  /** Sent with every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a Slot that already exists stays as it is, because it may be booked. */
  readonly keepsSlots?: boolean;
}

export interface Uploader {
  /**
   * Saves a resource. The resources that it references must have been saved before. If the server accepts
   * client-assigned ids, the resource keeps its id and replaces the one on the server. Otherwise the server assigns an
   * id, and a resource that is already there is not created again.
   */
  save(resource: FhirResource): Promise<void>;
  /** The reference of a saved resource on the server: `Patient/17` for `Patient/p-1`. */
  referenceOf(reference: string): string;
}

/**
 * Uploads resources to a FHIR server over REST. The first one shows whether the server accepts client-assigned ids:
 * https://hl7.org/fhir/R4/http.html#upsert
 */
export function uploadTo({ baseUrl, headers = {}, keepsSlots = false }: Target): Uploader {
  const base = baseUrl.replace(/\/+$/, '');
  const given = new Map<string, string>();
  let acceptsIds: boolean | undefined;

  async function send(method: string, path: string, resource: object | undefined, more: Record<string, string> = {}) {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${base}/${path}`, {
        method,
        headers: { 'content-type': mediaType, accept: mediaType, ...headers, ...more },
        ...(resource && { body: JSON.stringify(resource) }),
      });
      const isBusy = response.status === 429 || response.status === 503;
      if (!isBusy || attempt === attempts) return response;
      await response.body?.cancel();
      await pause(1000 * (secondsToWait(response.headers) || attempt));
    }
  }

  /** Deleted resources are 410: https://hl7.org/fhir/R4/http.html#read */
  async function isThere(resource: FhirResource): Promise<boolean> {
    const response = await send('GET', referenceTo(resource), undefined);
    await response.body?.cancel();
    if (response.ok || response.status === 404 || response.status === 410) return response.ok;
    throw rejected('GET', resource, response);
  }

  async function put(resource: FhirResource): Promise<boolean> {
    if (keepsSlots && resource.resourceType === 'Slot' && (await isThere(resource))) return true;
    const response = await send('PUT', referenceTo(resource), resource);
    await response.body?.cancel();
    if (response.ok) return true;
    const mayAssignIds = acceptsIds === undefined && [400, 404, 405, 409, 412, 422].includes(response.status);
    if (mayAssignIds) return false;
    throw rejected('PUT', resource, response);
  }

  async function post(resource: FhirResource & { readonly identifier?: readonly object[] }): Promise<string> {
    const { id, ...rest } = resource;
    const value = `${resource.resourceType}-${id}`;
    const marked = { ...rest, identifier: [...(resource.identifier ?? []), { system: dataSetSystem, value }] };
    const once = { 'if-none-exist': `identifier=${dataSetSystem}|${value}` };
    const response = await send('POST', resource.resourceType, marked, once);
    const text = await response.text();
    const reference = storedReference(response.headers.get('location') ?? undefined) ?? referenceIn(text);
    if (response.ok && reference !== undefined) return reference;
    throw rejected('POST', resource, response);
  }

  return {
    async save(resource) {
      const known = withReferences(resource, given);
      acceptsIds = (acceptsIds ?? true) && (await put(known));
      given.set(referenceTo(resource), acceptsIds ? referenceTo(resource) : await post(known));
    },
    referenceOf(reference) {
      const known = given.get(reference);
      if (known === undefined) throw new Error(`${reference} was not saved`);
      return known;
    },
  };
}

function withReferences(resource: FhirResource, given: ReadonlyMap<string, string>): FhirResource {
  return JSON.parse(JSON.stringify(resource), (name, value) =>
    name === 'reference' ? (given.get(value) ?? value) : value,
  );
}

function referenceIn(text: string): string | undefined {
  if (text === '') return undefined;
  const resource: FhirResource = JSON.parse(text);
  return resource.id === undefined ? undefined : referenceTo(resource);
}

/** Seconds from `Retry-After`, or until a quota is refilled: `RateLimit: "interactions";r=0;t=40`. */
function secondsToWait(headers: Headers): number {
  const [, refill] = /;r=0;t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return Number(headers.get('retry-after') ?? refill);
}

function rejected(method: string, { resourceType }: FhirResource, { status }: Response): Error {
  return new Error(`The server responded ${status} to ${method} ${resourceType}`);
}
