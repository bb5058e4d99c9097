import { readFile } from 'node:fs/promises';

/** Processor time and memory of a process and its children. */
export interface Usage {
  /** User and system time in milliseconds since the start. */
  readonly cpuMilliseconds: number;
  /** Resident memory in bytes. Pages that processes share count once for each. */
  readonly residentBytes: number;
}

/** Linux reports processor time in this unit. */
const tickMilliseconds = 10;
const unknown: Usage = { cpuMilliseconds: Number.NaN, residentBytes: Number.NaN };

/** Reads `/proc`. Both figures are NaN on other systems than Linux, and for a process that is not known. */
export async function usageOf(pid: number | undefined): Promise<Usage> {
  if (process.platform !== 'linux' || pid === undefined) return unknown;
  const [stat, status, children] = await Promise.all(
    ['stat', 'status', `task/${pid}/children`].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
  );
  const ofChildren = await Promise.all((children ?? '').split(' ').filter(Boolean).map(Number).map(usageOfChild));
  return ofChildren.reduce(add, parseUsage(stat ?? '', status ?? ''));
}

/** Nothing for a child that has ended since: then its parent counts its processor time. */
async function usageOfChild(pid: number): Promise<Usage> {
  return usageOf(pid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    return { cpuMilliseconds: 0, residentBytes: 0 };
  });
}

/**
 * Usage of one process, with the processor time of children that have ended.
 *
 * @param stat text of `/proc/<pid>/stat`
 * @param status text of `/proc/<pid>/status`
 */
export function parseUsage(stat: string, status: string): Usage {
  // The second field is the name in parentheses, which may contain spaces. utime, stime, cutime, cstime: 14th to 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).map(Number);
  const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  return { cpuMilliseconds: sum(ticks) * tickMilliseconds, residentBytes: kibibytes * 1024 };
}

function add(a: Usage, b: Usage): Usage {
  return {
    cpuMilliseconds: a.cpuMilliseconds + b.cpuMilliseconds,
    residentBytes: a.residentBytes + b.residentBytes,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
