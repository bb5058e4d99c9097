import {
  acceptClient,
  type ClientChange,
  type ClientVersion,
  insertClient,
  type Rejection,
  revokeClient as revoke,
  rotateSecret,
  updateClient as update,
} from '../../clients/change-clients.ts';
import { newSecret } from '../../clients/client-registry.ts';
import type { ConfiguredAccess } from '../../config/configuration.ts';
import type { Mistake } from '../../config/mistakes/mistake.ts';
import { clientMistakes } from '../../config/rules/client-mistakes.ts';
import type { ClientFacts } from '../../config/schema/schema.ts';
import type { Db, Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { disableEndpointsOf } from '../../webhooks/endpoint-actions.ts';
import { act, NotPossible } from '../audit/act.ts';
import type { OperatorAction } from '../audit/activity.ts';
import type { Session } from '../sign-in/sessions.ts';

/** Hours that the previous secret stays valid after a rotation. */
export const defaultOverlapHours = 24;
export const longestOverlapHours = 30 * 24;

/** Who changes clients, and which ones the configuration has. */
export interface ClientAdministration {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly configured: ConfiguredAccess;
  /** Absent: the command line. */
  readonly by?: Session;
}

export type NotChanged = Rejection | 'configured';

/** What operators are told if a client was not changed. */
export const notChangedTexts: Readonly<Record<NotChanged, string>> = {
  taken: 'A client has this id, or had it before it was revoked. An id is used once.',
  configured: 'The configuration file has a client with this id. It can only be changed there.',
  unknown: 'No client has this id.',
  revoked: 'The client is revoked.',
  outdated: 'The client has been changed since this page was opened.',
  unproven:
    'The client was changed by somebody else than the console and commands of this version, and opens nothing. Look at it with `crossward clients accept`.',
  no_credentials: 'The client would have neither a secret nor keys.',
};

interface Created {
  /** Not stored, so it can be shown only now. `undefined`: the client has keys. */
  readonly secret: string | undefined;
}

interface Rejected {
  readonly rejection: NotChanged;
}

interface Mistaken {
  /** With paths into the facts. */
  readonly mistakes: readonly Mistake[];
}

/** Creates a client: with a secret, unless it has keys. */
export async function createClient(
  administration: ClientAdministration,
  facts: ClientFacts,
): Promise<Created | Rejected | Mistaken> {
  const mistakes = clientMistakes(facts, administration.configured);
  if (mistakes.length > 0) return { mistakes };
  const secret = facts.jwks || facts.jwks_uri ? undefined : newSecret();
  const rejection = await change(administration, 'client_create', facts, (tx) =>
    insertClient(tx, administration.keys, facts, secret),
  );
  return rejection ? { rejection } : { secret };
}

/** Changes the given facts of a client. */
export async function updateAsOperator(
  administration: ClientAdministration,
  target: ClientVersion,
  { withoutKeys, withoutSecret, ...facts }: ClientChange,
): Promise<'done' | Rejected | Mistaken> {
  const mistakes = clientMistakes(facts, administration.configured);
  if (mistakes.length > 0) return { mistakes };
  const rejection = await change(administration, 'client_update', target, (tx) =>
    update(tx, administration.keys, target, {
      ...facts,
      ...(withoutKeys && { withoutKeys }),
      ...(withoutSecret && { withoutSecret }),
    }),
  );
  return rejection ? { rejection } : 'done';
}

/**
 * Gives a client a new secret. The previous one ends after the overlap, in whole hours, and those before it at their own ends;
 * 0: all at once.
 */
export async function rotateClient(
  administration: ClientAdministration,
  target: ClientVersion,
  overlapHours: number,
): Promise<{ readonly secret: string } | Rejected> {
  const secret = newSecret();
  const rejection = await change(administration, 'client_rotate', target, (tx) =>
    rotateSecret(tx, administration.keys, target, { secret, overlapHours }),
  );
  return rejection ? { rejection } : { secret };
}

/** Lets a client that is not proven in as it is. `state`: what the operator has seen. */
export async function acceptAsOperator(
  administration: ClientAdministration,
  target: { readonly id: string; readonly state: string },
): Promise<'done' | Rejected> {
  const rejection = await change(administration, 'client_accept', target, (tx) =>
    acceptClient(tx, administration.keys, target),
  );
  return rejection ? { rejection } : 'done';
}

/**
 * Ends a stored client, its secrets and its webhook endpoints for good. If the configuration file has a client with the same
 * id, that one stays in effect, with the endpoints.
 */
export async function revokeAsOperator(
  administration: Omit<ClientAdministration, 'keys'>,
  target: ClientVersion,
): Promise<'done' | 'overridden one done' | Rejected> {
  const isOverridden = isConfigured(administration, target);
  const rejection = await attempt(administration, 'client_revoke', target, async (tx) => {
    const rejected = await revoke(tx, target);
    if (isOverridden) return rejected === 'unknown' || rejected === 'revoked' ? 'configured' : rejected;
    if (!rejected) await disableEndpointsOf(tx, target.id);
    return rejected;
  });
  if (rejection) return { rejection };
  return isOverridden ? 'overridden one done' : 'done';
}

function isConfigured(
  { configured }: Pick<ClientAdministration, 'configured'>,
  { id }: Pick<ClientVersion, 'id'>,
): boolean {
  return configured.clients.some((client) => client.id === id);
}

/** Makes a change, unless the client is in the configuration file. */
function change(
  administration: ClientAdministration,
  action: OperatorAction,
  target: Pick<ClientVersion, 'id'>,
  work: (tx: Tx) => Promise<Rejection | undefined>,
): Promise<NotChanged | undefined> {
  return attempt(administration, action, target, async (tx) =>
    isConfigured(administration, target) ? 'configured' : work(tx),
  );
}

async function attempt(
  { db, by }: Omit<ClientAdministration, 'keys'>,
  action: OperatorAction,
  { id }: Pick<ClientVersion, 'id'>,
  work: (tx: Tx) => Promise<NotChanged | undefined>,
): Promise<NotChanged | undefined> {
  const result = await act(db, by, { action, target: id }, async (tx) => {
    const rejection = await work(tx);
    if (rejection) throw new NotPossible(rejection);
  });
  return result?.reason as NotChanged | undefined;
}
