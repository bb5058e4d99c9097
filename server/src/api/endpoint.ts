import type { ChangeKind, ConnectorOperation, Patient } from '@crossward/connector-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Client, ClientRegistry } from '../clients/client-registry.ts';
import type { CountRequest } from '../clients/request-budget.ts';
import type { WrongNameMetrics } from '../clients/wrong-name-metrics.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Scope } from '../config/schema/schema.ts';
import type { ConfiguredService } from '../config/schema/services.ts';
import type { Tx } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import type { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import type { Asker } from '../slot-search/ask.ts';
import type { Upload } from '../uploads/upload.ts';
import type { PlannedWrite, WriteResponse, WriteServices } from '../writes/write-kind.ts';
import type { Cursors } from './paging.ts';

/** A standard that requests and responses can follow. */
export type Standard = 'native' | 'fhir-r4';

/** The level of access that an endpoint needs. It determines the path prefix. */
export type Level = 'client' | 'emr' | 'care_unit';

/**
 * Methods of the port and kinds of change that the EHR must support. `patients`: it can look patients up, or their
 * identifiers pass through.
 */
export type Needs = readonly (ConnectorOperation | ChangeKind | 'patients')[];

/** What endpoints work with, created once at start. */
export interface EndpointDeps {
  readonly services: WriteServices;
  readonly cursors: Cursors;
  readonly clients: ClientRegistry;
  readonly webhooks: Configuration['webhooks'];
  readonly wrongNames: WrongNameMetrics;
  readonly slots: Asker;
  /** Services that mean the same in all care units, as they are configured now. */
  sameServices(): readonly ConfiguredService[];
  /** Counts what counts against the client's limit beside the request itself. */
  readonly countRequest: CountRequest;
  /** In lower case: headers that can contain an identifier, in addition to those that begin with `x-`. */
  readonly identifierHeaders: ReadonlySet<string>;
  /** All native endpoints. */
  readonly endpoints: readonly AnyEndpoint[];
  /** The address under which clients reach the gateway, without a slash at the end. */
  publicUrl(): string;
  /** The address of the token endpoint. */
  tokenUrl(): string;
}

/** What credentials and path give access to, by level. */
interface AccessByLevel {
  client: { readonly client: Client };
  emr: AccessByLevel['client'] & { readonly ehr: EhrConnection };
  care_unit: AccessByLevel['emr'] & { readonly careUnit: CareUnitConnection };
}
export type Access<L extends Level = 'care_unit'> = AccessByLevel[L];

export type Input<
  L extends Level = Level,
  Params extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
> = Access<L> &
  EndpointDeps & {
    readonly params: Static<TObject<Params>>;
    readonly query: Static<TObject<Query>>;
    readonly body: Static<Body>;
    readonly readHeader: ReadHeader;
    /** For an endpoint with a `form`: the content of the body, already stored. Deleted afterwards, unless adopted. */
    readonly upload: Upload | undefined;
    /** What `findReceiver` has found. */
    readonly receiver: Promise<Patient> | undefined;
  };

/** Reads the patients and records that a response contains from its body. */
export type ReadShown = (body: object) => {
  /** Identifiers of patients in Patient ID notation. */
  readonly patients: readonly string[];
  /** Ids of appointments, notes and documents. */
  readonly records: readonly string[];
};

/** The source of an endpoint's types, validation, serialisation, access control and OpenAPI description. */
export interface Declaration<
  L extends Level = Level,
  Params extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
> {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly level: L;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Appended to the level's prefix. Parameters are written `:name`, as in Fastify. */
  readonly path: string;
  /** What the EHR must support. Absent: it depends on the request, or on nothing. */
  readonly needs?: Needs;
  /** What the endpoint can be used for, by the name that `GET /api/emrs/{emr}` lists, with what each needs. */
  readonly parts?: Readonly<Record<string, Needs>>;
  /**
   * Leaves an entry in the audit trail, with the patients that the response is about. `none`: it concerns no patient.
   * `if_patient`: only if the request names one.
   */
  readonly audit: 'none' | (L extends 'care_unit' ? ReadShown | 'if_patient' : never);
  /** The client needs one of these. Empty: any client has access. */
  readonly scopes: readonly Scope[];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Maximum size of the body in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * Schema of the body as `multipart/form-data`, for a body whose field `content` can be long: it is stored while it arrives.
   * In either media type, `body.content` is a hash of it. Requires `addUploadBodies` in the scope.
   */
  readonly form?: TSchema;
  /** Looks up the patient whom the content is for, before it arrives: it is not stored if the look-up fails. */
  findReceiver?(input: Access & Pick<Input<L, Params, Query, Body>, 'params' | 'readHeader'>): Promise<Patient>;
  readonly response: {
    /** 204: no body. */
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly schema: TSchema;
    /** When the status is 200 instead: the object exists already. */
    readonly existing?: string;
    /** Media types of a response that is a stream of bytes: a `Readable` in `body`, with a `content-type` header. */
    readonly mediaTypes?: readonly string[];
  };
  /** Schema of the response to a dry run (200). */
  readonly preview?: TSchema;
  /** Reasons of problems, beyond those that all endpoints of this level share. */
  readonly reasons: readonly Reason[];
  /** `*_not_found` reasons for identifiers in the query or body. Their status is 400. */
  readonly reasonsOfNames?: readonly Reason[];
  /** Set if requests and responses follow another standard than the native one. */
  readonly representation?: Representation;
  readonly examples: {
    readonly params?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
    readonly response: unknown;
  };
}

/** A response as it is sent. */
export type Shown = Omit<WriteResponse, 'body'> & { readonly body?: object };

/** How an endpoint speaks another standard. What it does is what the native endpoints do. */
export interface Representation {
  /** The value of `x-service-standard`. */
  readonly standard: Standard;
  /** Media types of the body. */
  readonly consumes?: readonly string[];
  /** Also for callers without credentials. Then the endpoint has no client. */
  readonly isPublic?: boolean;
  /** Whether a write is only tried. Default: no. The query parameter `dry_run` is of the native standard. */
  isDryRun?(request: FastifyRequest): boolean;
  /** The idempotency key of a request. Default: its header. @throws Problem `request_invalid` */
  keyOf?(request: FastifyRequest): string | undefined;
  /** Whether a refusal leaves the key free for another request. */
  isCondition?(request: FastifyRequest): boolean;
  /** Shows a response, new or stored, in the standard. */
  show?(response: WriteResponse, request: FastifyRequest): Promise<Shown>;
  /** Shows a problem in the standard. */
  showProblem(problem: Problem, request: FastifyRequest): Shown;
  /** Sends what is shown, in the format that the client likes best. */
  send(body: object, reply: FastifyReply): Promise<FastifyReply>;
}

/** An endpoint that reads. It gets the request itself for another standard, whose parameters no schema describes. */
export type ReadEndpoint<
  L extends Level = Level,
  P extends TProperties = TProperties,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
  Shown extends object = object,
> = Declaration<L, P, Q, B> & {
  handle(input: Input<L, P, Q, B>, request: FastifyRequest): Promise<WriteResponse & { readonly body: Shown }>;
};

/** An endpoint that plans a write to the EHR, made at most once for each `Idempotency-Key`. */
export type WriteEndpoint<
  L extends Level = Level,
  P extends TProperties = TProperties,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
> = Declaration<L, P, Q, B> & { plan(input: Input<L, P, Q, B>, request: FastifyRequest): Promise<PlannedWrite> };

/** An endpoint that writes to the gateway's own tables in one transaction, at most once for each `Idempotency-Key`. */
type StoreEndpoint<
  L extends Level = Level,
  P extends TProperties = TProperties,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
> = Declaration<L, P, Q, B> & {
  store(tx: Tx, input: Input<L, P, Q, B>, request: FastifyRequest): Promise<WriteResponse>;
};

export type AnyEndpoint = ReadEndpoint | WriteEndpoint | StoreEndpoint;

/** The endpoints of one resource, in the order of the OpenAPI document. */
export interface EndpointGroup {
  /** What the document names. */
  readonly schemas: readonly TSchema[];
  readonly endpoints: readonly AnyEndpoint[];
}

/** One method and path of the HTTP interface, as a constant: routes are made of it, and other standards call it. */
export function endpoint<
  L extends Level,
  P extends TProperties,
  Q extends TProperties,
  B extends TSchema,
  Shown extends object,
>(declared: ReadEndpoint<L, P, Q, B, Shown>): ReadEndpoint<L, P, Q, B, Shown>;
export function endpoint<L extends Level, P extends TProperties, Q extends TProperties, B extends TSchema>(
  declared: WriteEndpoint<L, P, Q, B>,
): WriteEndpoint<L, P, Q, B>;
export function endpoint<L extends Level, P extends TProperties, Q extends TProperties, B extends TSchema>(
  declared: StoreEndpoint<L, P, Q, B>,
): StoreEndpoint<L, P, Q, B>;
export function endpoint(declared: object): object {
  return declared;
}

/** Whether it changes nothing. A search whose terms must not be in a URL is a POST. */
export function isRead(declared: AnyEndpoint): boolean {
  return 'handle' in declared;
}
