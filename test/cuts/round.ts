import { setTimeout as sleep } from 'node:timers/promises';
import { createCallers } from './caller.ts';
import type { History, Snapshot } from './history.ts';
import { createLives } from './lives.ts';
import { pick, randomFrom } from './random.ts';
import { type Deliveries, readSnapshot, unfinished, watchEvents } from './snapshot.ts';
import { createWorld, type World } from './world.ts';

export interface RoundOptions {
  readonly folder: string;
  readonly postgresUrl: string;
  readonly seed: number;
  /** 0: nothing fails. */
  readonly cuts: number;
  /** Whether EHRs lose responses, are away and make writes late. Default: no. */
  readonly hasFaultyEhrs?: boolean;
  readonly callers?: number;
  /** How long callers write if nothing fails. */
  readonly quietMilliseconds?: number;
}

export interface Round {
  readonly history: History;
  readonly cutsByWay: readonly string[];
  readonly kills: number;
  readonly freezes: number;
}

/** Milliseconds. After it, what has not ended is stuck. */
const recoveryMilliseconds = 150_000;
const longestFreezeMilliseconds = 20_000;
/** Longer than an EHR delays a write. */
const lateWriteMilliseconds = 10_000;

/** Lets callers write on an empty database while connections are cut and gateways killed and frozen, and lets all of it recover. */
export async function runRound({
  folder,
  postgresUrl,
  seed,
  cuts,
  hasFaultyEhrs = false,
  callers: count = 60,
  quietMilliseconds = 15_000,
}: RoundOptions): Promise<Round> {
  const random = randomFrom(seed);
  const world = await createWorld(folder, postgresUrl, random, { isQuiet: cuts === 0, hasFaultyEhrs });
  const events = watchEvents(world.database);
  try {
    const callers = createCallers(world, random);
    const deliveries = await receiveAll(world);
    const live = await createLives(world, callers, random);
    let isEnding = false;
    const [cutBefore, done] = [world.cuts(), { kills: 0, freezes: 0 }];
    if (cuts > 0) world.beginCuts();
    const working = Array.from({ length: count }, async () => {
      while (!isEnding) {
        await live();
        await sleep(random() * 500);
      }
    });
    if (cuts === 0) await sleep(quietMilliseconds);
    let freezing: Promise<void> | undefined;
    let isFrozen = false;
    for (let next = 0; world.cuts() - cutBefore < cuts; next++) {
      await sleep(500);
      if (next % 8 !== 7) continue;
      // One of the two gateways is left, so events must keep coming.
      if (isFrozen) continue;
      if (random() < 0.6) {
        done.kills++;
        await world.kill();
      } else {
        done.freezes++;
        isFrozen = true;
        freezing = world.freeze(pick(random, [2_000, 5_000, 12_000, longestFreezeMilliseconds])).finally(() => {
          isFrozen = false;
        });
      }
    }
    isEnding = true;
    await freezing;
    await world.heal();
    callers.healed();
    await Promise.all(working);
    await expireCodes(world);
    await recovered(world);
    if (hasFaultyEhrs) await sleep(lateWriteMilliseconds);
    const left = await recovered(world);
    await events.stop();
    const snapshot = await readSnapshot(world, { watched: events.watched, deliveries, unfinished: left });
    return { history: { writes: callers.writes, snapshot }, cutsByWay: world.cutsByWay(), ...done };
  } finally {
    await events.stop();
    await world.dispose();
  }
}

/** An endpoint for all events. Returns the ids of those that each endpoint has accepted, by its name. */
async function receiveAll({ gateway, receiver, endpointName }: World): Promise<Deliveries> {
  const deliveries = new Map<string, Set<string>>();
  receiver.behave((response, event, request) => {
    const endpoint = endpointName(request.url ?? '');
    deliveries.set(endpoint, (deliveries.get(endpoint) ?? new Set()).add(event.id));
    response.writeHead(204).end();
  });
  const body = { url: receiver.url };
  const response = await gateway()?.send({ method: 'POST', path: '/api/webhook-endpoints', body });
  if (response?.status !== 201) throw new Error(`No webhook endpoint: ${response?.text}`);
  return deliveries;
}

/** Expires every code that is left, so that each hold has to be released. */
async function expireCodes({ database }: World): Promise<void> {
  await database.query(
    `UPDATE sandbox.appointments AS held SET held_until = now() WHERE state = 'held' AND EXISTS (
       SELECT FROM confirmation_items AS item
       WHERE item.emr = held.emr AND item.ehr_appointment_id = held.id AND item.state = 'pending')`,
  );
  await database.query('UPDATE confirmations SET expires_at = now() WHERE expires_at > now()');
}

/** Waits until everything has ended. Returns what has not. */
async function recovered({ databaseUrl, database }: World): Promise<Snapshot['unfinished']> {
  const until = Date.now() + recoveryMilliseconds;
  for (;;) {
    const left = await unfinished(databaseUrl, database);
    const { rows } = await database.query(
      `SELECT FROM confirmation_items WHERE state IN ('pending', 'confirming', 'expiring')`,
    );
    if ((left.length === 0 && rows.length === 0) || Date.now() > until)
      return rows.length === 0
        ? left
        : [...left, { promise: 'a code that has expired is still awaited', what: `${rows.length} times` }];
    await sleep(1_000);
  }
}
