import os from 'node:os';
import { vi } from 'vitest';
import { sinceBoot } from './since-boot.ts';

/** Lets the machine seem to have been suspended for so many seconds, until `restore`. Waits until every reader notices. */
export async function suspendedFor(seconds: number): Promise<{ restore(): void }> {
  const { uptime } = os;
  const before = sinceBoot();
  const clock = vi.spyOn(os, 'uptime').mockImplementation(() => uptime() + seconds);
  await vi.waitUntil(() => sinceBoot() - before >= (seconds - 1) * 1000, { interval: 1 });
  return { restore: () => clock.mockRestore() };
}
