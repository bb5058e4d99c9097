import type { Kind } from '../history.ts';
import { idOf, isDone } from './appointment-writes.ts';
import { type Life, type Living, oneAtATime } from './living.ts';
import { createRecord } from './records.ts';

const path = '/api/webhook-endpoints';
/** Each gets all events. */
const mostKept = 4;

/**
 * A webhook endpoint of a client: its secret is rotated, it gets a test event, and either all events since the beginning, or it is
 * deleted.
 */
export function endpointLife(living: Living): Life {
  const { world, callers, random, name } = living;
  const { settle, read } = callers;
  const beginning = new Date().toISOString();
  let [lived, kept] = [0, 0];

  async function live(): Promise<void> {
    const subject = name('endpoint').replace(' ', '-');
    const made = await createRecord(
      living,
      {
        kind: 'endpoint',
        operation: 'create_webhook_endpoint',
        path,
        field: 'webhook_endpoints',
        body: () => ({ url: world.endpointUrl(subject) }),
        nameOf: ({ url }) => world.endpointName(String(url)),
      },
      subject,
    );
    if (!isDone(made)) return;
    const [id, ids] = [idOf(made), made.ids];
    const post = (kind: Kind, below: string, body?: object, about = `${kind} of ${id}`) =>
      settle({
        kind,
        operation: kind,
        subjects: [about],
        request: { method: 'POST', path: `${path}/${id}/${below}`, ...(body ? { body } : {}) },
        ids,
      });
    if (random() < 0.5) await post('endpoint rotation', 'secret', {});
    if (random() < 0.5) await post('endpoint test', 'test');
    if (++lived % 3 === 0 && kept < mostKept) {
      kept++;
      await post('endpoint replay', 'replay', { from: beginning }, subject);
      return;
    }
    await settle({
      kind: 'endpoint deletion',
      operation: 'delete_webhook_endpoint',
      subjects: [subject],
      request: { method: 'DELETE', path: `${path}/${id}` },
      ids,
      look: async () => ((await read(`${path}/${id}`)) ? undefined : ids),
    });
  }

  return oneAtATime(live);
}
