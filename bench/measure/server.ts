import { fork } from 'node:child_process';
import { once } from 'node:events';

export type Headers = Readonly<Record<string, string>>;

/** A server under measurement, in a process of its own. */
export interface Server {
  /** Without a slash at the end. */
  readonly url: string;
  /** Headers that a request needs: those of each client. The connections of a load are shared out among them. */
  readonly clients: readonly [Headers, ...Headers[]];
  /** `undefined`: somebody else runs it, perhaps on another machine. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** Starts a file of `servers/` and waits until it listens. It sends its URL to this process. */
export async function startServer(name: string, options: object): Promise<Server> {
  const child = fork(new URL(`../servers/${name}.ts`, import.meta.url), [JSON.stringify(options)]);
  const exited = once(child, 'exit');
  const [url] = (await Promise.race([once(child, 'message'), exited])) as [string | number];
  if (typeof url !== 'string') throw new Error(`The server ${name} did not start`);
  return {
    url: url.replace(/\/$/, ''),
    clients: [{}],
    pid: child.pid ?? 0,
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
