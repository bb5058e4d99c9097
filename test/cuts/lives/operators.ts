import type { Kind } from '../history.ts';
import { isDone } from './appointment-writes.ts';
import { type Living, oneAtATime } from './living.ts';

/** Endpoints. Each gets all events. */
const mostKept = 2;

/** What operators do in the console. They send the same form again until they know what became of it. */
export function operatorLives({ world, callers, random, name }: Living) {
  const { settle, readForm } = callers;
  const { session } = world;
  const beginning = new Date().toISOString().slice(0, 16);
  let kept = 0;

  interface Filled {
    readonly kind: Kind;
    /** The page with the form, below `/console/`, and where it is sent. */
    readonly form: string;
    readonly to?: string;
    readonly fields?: Readonly<Record<string, string>>;
    readonly subject: string;
    readonly id: string;
    readonly results?: readonly string[];
    /** What the console says of a form that was sent before. Absent: it does it again. */
    readonly sentBefore?: RegExp;
  }

  async function submit({ kind, form, to = form, fields = {}, subject, id, results = [], sentBefore }: Filled) {
    const hidden = await readForm(`/console/${form}`, session);
    if (!hidden) throw new Error(`The console has no page ${form}`);
    const repeated = sentBefore ? { sentBefore } : {};
    const request = { path: `/console/${to}`, session, fields: { ...hidden, ...fields }, results, ...repeated };
    // The id of a new endpoint is in its form.
    const ids = [id === '' ? (hidden.id ?? '') : id];
    return { id: ids[0] ?? '', settled: await settle({ kind, operation: kind, subjects: [subject], request, ids }) };
  }

  async function endpoint(): Promise<void> {
    const subject = name('endpoint').replace(' ', '-');
    const { id, settled } = await submit({
      kind: 'operator: endpoint',
      form: 'new-webhook',
      fields: { client: world.clientId, url: world.endpointUrl(subject) },
      subject,
      id: '',
      sentBefore: /sent_before/,
    });
    if (!isDone(settled)) return;
    if (random() < 0.6) {
      await submit({
        kind: 'operator: endpoint rotation',
        form: `webhooks/${id}/secret`,
        fields: { hours: '24' },
        subject: `endpoint rotation of ${id}`,
        id,
        sentBefore: /result=rotated/,
      });
    }
    if (kept < mostKept && random() < 0.5) {
      kept++;
      await submit({
        kind: 'operator: endpoint test',
        form: `webhooks/${id}`,
        to: `webhooks/${id}/test`,
        subject: `endpoint test of ${id}`,
        id,
        results: ['tested'],
      });
      await submit({
        kind: 'operator: endpoint replay',
        form: `webhooks/${id}/replay`,
        fields: { from: beginning },
        subject,
        id,
        results: ['replayed'],
      });
      return;
    }
    await submit({
      kind: 'operator: endpoint deletion',
      form: `webhooks/${id}/delete`,
      subject,
      id,
      results: ['deleted'],
      sentBefore: /No such endpoint/,
    });
  }

  async function client(): Promise<void> {
    const id = name('client').replace(' ', '-');
    const made = await submit({
      kind: 'operator: client',
      form: 'new-client',
      fields: { id, scope: 'appointments:read', grant: 'sandbox-no' },
      subject: id,
      id,
      sentBefore: /A client has this id/,
    });
    if (!isDone(made.settled)) return;
    await submit({
      kind: 'operator: client rotation',
      form: `clients/${id}/rotate`,
      fields: { overlap_hours: '24' },
      subject: `client rotation of ${id}`,
      id,
      sentBefore: /result=outdated/,
    });
  }

  async function drop(): Promise<void> {
    const id = await world.suspendedOperation();
    await submit({
      kind: 'operator: drop',
      form: `operations/${id}/drop`,
      fields: { checked: 'yes' },
      subject: `dropped ${id}`,
      id,
      results: ['dropped'],
      sentBefore: /result=not_found|No such operation/,
    });
  }

  return { endpoint: oneAtATime(endpoint), client, drop };
}
