import type { ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Logger } from 'pino';
import type { Configuration, ConfiguredAccess, ConfiguredEmr } from '../../config/configuration.ts';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { ConfigurationState } from '../../config/file/configuration-state.ts';
import type { AroundEmrs } from '../../config/one-emr.ts';
import type { ConfiguredService } from '../../config/schema/services.ts';
import type { DatabaseClock } from '../../db/clock.ts';
import type { Channel } from '../../db/tables/messages.ts';
import type { TroubleWatch } from '../../db/troubles.ts';
import type { ReadFigures } from '../../ehr/figures.ts';
import type { Asker } from '../../slot-search/ask.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import type { Role } from '../accounts/roles.ts';
import type { CredentialServices } from '../sign-in/credentials.ts';
import type { Session } from '../sign-in/sessions.ts';
import type { SignInMetrics } from '../sign-in/sign-in-metrics.ts';

/** The clients of the configuration, what clients can be granted, and EHRs with connectors, for checks of connections. */
interface Configured {
  readonly configured: ConfiguredAccess;
  readonly emrs: readonly ConfiguredEmr[];
  readonly connectors: readonly ConnectorModule[];
  /** The settings on which the rules for EHRs depend. */
  readonly around: AroundEmrs;
}

/** The dependencies of the console. */
export interface ConsoleParts {
  readonly settings: ConsoleSettings;
  readonly services: WriteServices;
  /** As it is now. */
  configuration(): Configured;
  /** What became of the configuration file. */
  readonly configurationState: ConfigurationState;
  /** Makes this process use committed changes of clients at once. */
  refreshClients(): Promise<void>;
  /** Makes this process use committed changes of stored EHRs at once. */
  refreshStored(): Promise<void>;
  /** Makes this process use committed pauses of EHRs at once. */
  refreshPauses(): Promise<void>;
  readonly slots: Pick<Asker, 'servicesOf'>;
  /** Services that mean the same in all care units, as they are configured now. */
  sameServices(): readonly ConfiguredService[];
  readonly webhooks: Configuration['webhooks'];
  readonly database: PostgresPool;
  readonly troubles: Pick<TroubleWatch, 'current' | 'since'>;
  readonly clock: Pick<DatabaseClock, 'answerMilliseconds' | 'isSlow'>;
  readonly readFigures: ReadFigures;
  /** Why a message could not be sent, in words with host and port of the provider, from the stored reason. */
  messageFailure(channel: Channel, reason: string): string;
  readonly signIns: SignInMetrics;
  /** The database's time. */
  now(): Date;
  readonly log: Logger;
}

/** What a page works with: the configuration is that of the moment when the request came. */
export type ConsoleDeps = Omit<ConsoleParts, 'configuration'> & Configured;

/** What checks of credentials work with. */
export function credentialServices({ services: { db, keys }, settings, now }: ConsoleDeps): CredentialServices {
  return { db, keys, settings, now };
}

/** A request to the console, independent of the HTTP server. */
export interface ConsoleRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a form. Empty for a GET request. */
  readonly form: URLSearchParams;
  /** The `cookie` header. */
  readonly cookieHeader: string;
  /** The URL below which the browser reaches the console. */
  readonly url: URL;
  /** The address of the caller. */
  readonly address: string;
  /** The address that limits count by: see `callerOf`. */
  readonly network: string;
  /** Headers by which a browser says where a form comes from. */
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
}

export interface ConsoleResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly html?: string;
  /** A redirect, with status 303. */
  readonly location?: string;
  /** Values of `set-cookie` headers. */
  readonly cookies?: readonly string[];
}

/** What a page gets. */
export interface PageContext {
  readonly deps: ConsoleDeps;
  readonly request: ConsoleRequest;
  /** Those of the request, by name. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
  /** The style sheet, by the name with the hash of its content. */
  readonly style: string;
  /** How many folders the page is below `/console`. Links are relative, so that they work below a path of a proxy. */
  readonly depth: number;
}

/** What a page of a signed-in operator gets. */
export interface SignedIn extends PageContext {
  readonly session: Session;
}

/** A link to another page of the console. `''` is the overview, `'?…'` the overview with a query. */
export function linkTo({ depth }: Pick<PageContext, 'depth'>, path: string): string {
  return `${'../'.repeat(depth)}console${path === '' || path.startsWith('?') ? path : `/${path}`}`;
}

/** Ends a form: a reload of the page then sends it no second time. */
export function seeOther(context: Pick<PageContext, 'depth'>, path: string): ConsoleResponse {
  return { status: 303, location: linkTo(context, path) };
}

interface Address {
  readonly method: 'GET' | 'POST';
  /** Below `/console/`, in the form of Fastify's router. */
  readonly path: string;
  /** A form with a field for each care unit of the configuration. */
  readonly isLongForm?: true;
  /** Only the demo has it. Its form is on the start page, too, which has no token for it. */
  readonly isOfDemo?: true;
}

/** A page of the console, or a form. */
export type Route =
  | (Address & { readonly role: 'public'; page(context: PageContext): Promise<ConsoleResponse> })
  /** The role that the page needs. */
  | (Address & { readonly role: Role; page(context: SignedIn): Promise<ConsoleResponse> });
