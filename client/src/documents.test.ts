import { expect, onTestFinished, test, vi } from 'vitest';
import { clientWithReplies, json, noConnection, problem } from './test-gateway.ts';

const stored = { id: 'd-1' };

test('a document is sent as a form, and its content is read again for a retry', async () => {
  const { unit, requests } = clientWithReplies([noConnection, problem('overloaded', 503), json(stored, 201)], {
    retry: { baseDelayMs: 0 },
  });
  const content = new Blob(['%PDF-1.7'], { type: 'application/pdf' });
  await expect(unit.documents.create('p-3', { title: 'Referral', content })).resolves.toEqual(stored);

  const forms = await Promise.all(
    requests.map(({ headers, body }) => new Response(body, { headers: [...headers] }).formData()),
  );
  expect(forms.map((form) => [...form.keys()])).toEqual(Array(3).fill(['title', 'content']));
  for (const form of forms) {
    const part = form.get('content');
    if (!(part instanceof Blob)) throw new Error('The content is not a file part');
    expect(part.type).toBe('application/pdf');
    expect(await part.text()).toBe('%PDF-1.7');
  }
  expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
});

/** A response whose body ends when the signal aborts. */
function endless({ signal }: Request): Response {
  return new Response(
    new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode('first'));
        signal.addEventListener('abort', () => stream.error(signal.reason));
      },
    }),
  );
}

test('the content of a document is a stream without a time limit, which the signal aborts', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const controller = new AbortController();
  const { unit } = clientWithReplies([endless], { timeoutMs: 1_000 });
  const { body } = await unit.documents.content('p-3', 'd-1', { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(60_000);

  const reader = body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
  const rest = expect(reader?.read()).rejects.toThrow('No longer needed');
  controller.abort(new Error('No longer needed'));
  await rest;
});

test('a download is repeated if it does not begin', async () => {
  const { unit, requests } = clientWithReplies(
    [noConnection, problem('ehr_unavailable', 503), new Response('content')],
    { retry: { baseDelayMs: 0 } },
  );
  const response = await unit.documents.content('p-3', 'd-1');
  await expect(response.text()).resolves.toBe('content');
  expect(requests).toHaveLength(3);
});

test('a document that does not exist is a problem', async () => {
  const { unit } = clientWithReplies([problem('document_not_found', 404, {}, false)]);
  await expect(unit.documents.content('p-3', 'd-1')).rejects.toMatchObject({
    problem: { reason: 'document_not_found' },
  });
});
