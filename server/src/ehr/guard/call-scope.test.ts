import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callScope, withinCallTime, withProgress } from './call-scope.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A call that reads content of this many parts, one every 90 milliseconds. */
async function send(parts: number): Promise<string> {
  const write = withProgress({
    async *content() {
      for (let sent = 0; sent < parts; sent++) {
        vi.advanceTimersByTime(90);
        yield Buffer.of(1);
      }
    },
  });
  for await (const _ of write.content());
  return callScope.getStore()?.signal().aborted ? 'aborted' : 'sent';
}
const late = () => new Error('late');

test('a call may take longer than its time-out while it makes progress', async () => {
  expect(await withinCallTime(100, () => send(5), late, 1000)).toBe('sent');
});

test('the whole call ends in time, whatever progress it makes', async () => {
  let end = '';
  const call = async () => {
    end = await send(12);
  };
  await expect(withinCallTime(100, call, late, 1000)).rejects.toThrow('late');
  await vi.waitFor(() => expect(end).toBe('aborted'));
});

test('a call without progress ends after its time-out', async () => {
  const call = async () => {
    vi.advanceTimersByTime(101);
    return 'done';
  };
  await expect(withinCallTime(100, call, late, 1000)).rejects.toThrow('late');
});
