import {
  type ClientVersion,
  insertClient,
  type Rejection,
  revokeClient as revoke,
  rotateSecret,
  updateClient as update,
} from '../clients/change-clients.ts';
import { newSecret } from '../clients/client-secret.ts';
import { clientMistakes } from '../config/client-mistakes.ts';
import type { ConfiguredAccess } from '../config/configuration.ts';
import type { Mistake } from '../config/mistake.ts';
import type { ClientFacts } from '../config/schema.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { retryTransaction } from '../db/retry.ts';
import { disableEndpointsOf } from '../webhooks/endpoint-actions.ts';
import { type Activity, recordActivity } from './activity.ts';
import { requireOpen } from './actor.ts';
import type { Session } from './sessions.ts';

/** Hours that the previous secret stays valid after a rotation. */
export const defaultOverlapHours = 24;
export const longestOverlapHours = 30 * 24;

/** Who changes clients, and which ones the configuration has. */
export interface ClientAdministration {
  readonly db: Db;
  readonly configured: ConfiguredAccess;
  /** The name in the activity list. */
  readonly operator: string;
  /** Absent: the command line. */
  readonly session?: Session;
}

export type NotChanged = Rejection | 'configured';

/** What operators are told if a client was not changed. */
export const notChangedTexts: Readonly<Record<NotChanged, string>> = {
  taken: 'A client has this id, or had it before it was revoked. An id is used once.',
  configured: 'The configuration file has a client with this id. It can only be changed there.',
  unknown: 'No client has this id.',
  revoked: 'The client is revoked.',
  outdated: 'The client has been changed since this page was opened.',
};

interface Created {
  /** Not stored, so it can be shown only now. */
  readonly secret: string;
}

interface Rejected {
  readonly rejection: NotChanged;
}

interface Mistaken {
  /** With paths into the facts. */
  readonly mistakes: readonly Mistake[];
}

/** Creates a client. */
export async function createClient(
  administration: ClientAdministration,
  facts: ClientFacts,
): Promise<Created | Rejected | Mistaken> {
  const mistakes = clientMistakes(facts, administration.configured);
  if (mistakes.length > 0) return { mistakes };
  const secret = newSecret();
  const rejection = await change(administration, 'client_create', facts, (tx) => insertClient(tx, facts, secret));
  return rejection ? { rejection } : { secret };
}

/** Changes the given facts of a client. */
export async function updateClient(
  administration: ClientAdministration,
  target: ClientVersion,
  facts: Partial<Omit<ClientFacts, 'id'>>,
): Promise<'done' | Rejected | Mistaken> {
  const mistakes = clientMistakes(facts, administration.configured);
  if (mistakes.length > 0) return { mistakes };
  const rejection = await change(administration, 'client_update', target, (tx) => update(tx, target, facts));
  return rejection ? { rejection } : 'done';
}

/** Gives a client a new secret. The previous one ends after the overlap, in whole hours; 0: at once. */
export async function rotateClient(
  administration: ClientAdministration,
  target: ClientVersion,
  overlapHours: number,
): Promise<Created | Rejected> {
  const secret = newSecret();
  const rejection = await change(administration, 'client_rotate', target, (tx) =>
    rotateSecret(tx, target, { secret, overlapHours }),
  );
  return rejection ? { rejection } : { secret };
}

/** Ends a client, its secrets and its webhook endpoints for good. */
export async function revokeClient(
  administration: ClientAdministration,
  target: ClientVersion,
): Promise<'done' | Rejected> {
  const rejection = await change(administration, 'client_revoke', target, async (tx) => {
    const rejected = await revoke(tx, target);
    if (!rejected) await disableEndpointsOf(tx, target.id);
    return rejected;
  });
  return rejection ? { rejection } : 'done';
}

/** Makes a change and its entry in the activity list in one transaction. */
function change(
  { db, configured, operator, session }: ClientAdministration,
  action: Activity['action'],
  { id }: Pick<ClientVersion, 'id'>,
  work: (tx: Tx) => Promise<Rejection | undefined>,
): Promise<NotChanged | undefined> {
  const isConfigured = configured.clients.some((client) => client.id === id);
  return retryTransaction(() =>
    db.transaction().execute(async (tx) => {
      const rejection = isConfigured ? 'configured' : await work(tx);
      if (session) await requireOpen(tx, session);
      await recordActivity(tx, {
        operator,
        action,
        // What is not the id of a client could be personal data.
        target: rejection === 'unknown' ? undefined : id,
        outcome: rejection ? 'not_possible' : 'done',
      });
      return rejection;
    }),
  );
}
