import type { ConnectorError, EhrStream, StreamedBody } from '@crossward/connector-kit';
import type { Bundle, BundleEntry, FhirResource, Parameters } from '../fhir.ts';
import type { EhrClock } from './clock.ts';
import type { Habits } from './habits.ts';

/** The response to a write. `resource` is `undefined` for an empty body. */
export interface WriteResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly body: unknown;
  readonly resource: FhirResource | undefined;
  /** `Appointment/17`, from the body or the `Location` header. */
  readonly reference: string | undefined;
  /** From the body or a weak `ETag`: https://hl7.org/fhir/R4/http.html#versioning */
  readonly version: string | undefined;
  /** From the `Expires` header, by the EHR's clock. */
  readonly expires: Date | undefined;
  readonly rejection: ConnectorError | undefined;
}

export interface SearchPage {
  readonly resources: readonly FhirResource[];
  /** Resources that `_include` or `_revinclude` added. A server that does not support them adds none. */
  readonly included: readonly FhirResource[];
  /** Whether the `self` link shows that the server has sorted. */
  readonly sorted: boolean;
}

/** A name may repeat: a lower and an upper bound are two pairs. */
export type SearchParameters = readonly (readonly [name: string, value: string])[];

export interface SearchOptions {
  /** Searches by POST, so that the parameters are not in the URL. */
  readonly post?: boolean;
  /** For a search with few matches. The request forbids the server to store the result. */
  readonly few?: boolean;
  /** Parameters that may be left out if the server does not know them: the caller filters what it gets. */
  readonly droppable?: readonly string[];
  /** Whether to throw if a match cannot be used: one that is left out could be the one that matters. */
  readonly strict?: boolean;
  /** Called if a match cannot be used and is left out. */
  leftOut?(): void;
}

/** FHIR over HTTP. Every read and every search is fresh. */
export interface FhirClient {
  readonly clock: EhrClock;
  readonly habits: Habits;
  /** The same server, with a header in every request that names the patient whom it concerns. */
  ofPatient(header: Readonly<Record<string, string>>): FhirClient;
  /** `null`: not found, or deleted. Throws if the resource has another type or id than the reference. */
  read<R extends FhirResource>(reference: string): Promise<R | null>;
  /** Fetches the next page only when it is needed. */
  pages(type: string, parameters: SearchParameters, options?: SearchOptions): AsyncGenerator<SearchPage>;
  /** Versions, the newest first: https://hl7.org/fhir/R4/http.html#history */
  history(path: string, parameters: SearchParameters): AsyncGenerator<readonly BundleEntry[]>;
  /** Every match, each once. */
  search<R extends FhirResource>(type: string, parameters: SearchParameters, options?: SearchOptions): Promise<R[]>;
  /**
   * Resources by id, in any order. Missing ones are left out. Throws if one of them cannot be read, so that it is not taken for
   * missing, or if there is another one among them.
   */
  readMany<R extends FhirResource>(references: readonly string[]): Promise<R[]>;
  /** As `readMany`, and those that cannot be read are left out and counted, or that the client may not read. */
  readAllowed<R extends FhirResource>(references: readonly string[]): Promise<R[]>;
  /**
   * The content of a Binary as it is: https://hl7.org/fhir/R4/binary.html#rest. `null`: not found, or deleted. The server
   * may send a resource in JSON instead.
   */
  download(reference: string, accept: string): Promise<EhrStream | null>;
  /** Creates a Binary of this content. */
  upload(contentType: string, content: StreamedBody): Promise<WriteResponse>;
  /** Throws `outcome_unknown` if the response is about another resource. So do `update` and `patch`. */
  create(resource: FhirResource, options?: { ifNoneExist?: string }): Promise<WriteResponse>;
  update(resource: FhirResource, options: { ifMatch: string | undefined }): Promise<WriteResponse>;
  /** JSON Patch: https://hl7.org/fhir/R4/http.html#patch */
  patch(reference: string, patch: readonly object[], options: { ifMatch: string | undefined }): Promise<WriteResponse>;
  remove(reference: string): Promise<WriteResponse>;
  /** Adds a `fullUrl` to each update, which servers that validate require. */
  transaction(bundle: Bundle): Promise<WriteResponse>;
  /**
   * `Appointment/$book`
   *
   * @param options `reads`: it changes nothing. `isRefused`: whether the body of a 2xx says that nothing was done
   */
  operation(
    path: string,
    parameters: Parameters,
    options?: { readonly reads?: boolean; readonly isRefused?: (body: unknown) => boolean },
  ): Promise<WriteResponse>;
  /** Calls an operation that changes nothing, by GET: `Appointment/$find`. */
  ask(path: string, parameters: SearchParameters): Promise<FhirResource>;
}
