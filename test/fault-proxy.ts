import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What a fault looks for. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}
type Matches = (request: ProxiedRequest) => boolean;

/** A request that has been taken from whoever sent it, and has not come to the server yet. */
export interface LateRequest {
  /** Hands it to the server, and answers nobody. Rejects before it has come. */
  finish(): Promise<void>;
}

/** Stands before a server that speaks HTTP. Each fault is for one request. */
export interface FaultProxy {
  /** Passed on unless something else was asked for. */
  readonly url: string;
  /** The next such request comes to the server; its answer is cut off, and the proxy is down from then on. */
  commitThenGoDown(matches: Matches): void;
  /** The next such request is cut off, and the proxy is down from then on; the server has it when the test says so. */
  finishLate(matches: Matches): LateRequest;
  /** Connections are refused, and those that are open break. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

interface Fault {
  readonly matches: Matches;
  play(request: Held): Promise<void>;
}
interface Held extends ProxiedRequest {
  readonly headers: IncomingMessage['headers'];
}
interface Passed {
  readonly response: IncomingMessage;
  readonly body: Buffer;
}

/** A reverse proxy on loopback that fails as a network and a server would. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const faults: Fault[] = [];
  let server = await listening(handle);
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming;
    const body = Buffer.concat(await incoming.toArray()).toString('utf8');
    const held = { method, path, body, headers };
    const fault = faults.find(({ matches }) => matches(held));
    if (fault) {
      faults.splice(faults.indexOf(fault), 1);
      await fault.play(held);
      return;
    }
    const passed = await passOn(target, held);
    outgoing.writeHead(passed.response.statusCode ?? 502, passed.response.headers).end(passed.body);
  }

  async function goDown(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    commitThenGoDown(matches) {
      faults.push({
        matches,
        async play(held) {
          await passOn(target, held);
          await goDown();
        },
      });
    },
    finishLate(matches) {
      let late: Held | undefined;
      faults.push({
        matches,
        async play(held) {
          late = held;
          await goDown();
        },
      });
      return {
        async finish() {
          if (!late) throw new Error('No such request has come yet');
          await passOn(target, late);
        },
      };
    },
    goDown,
    async comeUp() {
      if (!server.listening) server = await listening(handle, port);
    },
    close: goDown,
  };
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** On the port that it had before: somebody may have it for a moment. */
async function listening(handle: Handle, port = 0): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const server = createServer((incoming, outgoing) => {
      // Whatever goes wrong is an answer that breaks off.
      handle(incoming, outgoing).catch(() => outgoing.destroy());
    });
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return server;
    } catch (error) {
      if (attempt === 100) throw error;
      await pause(100);
    }
  }
}

async function passOn(target: string, { method, path, body, headers }: Held): Promise<Passed> {
  const { host: _host, connection: _connection, 'transfer-encoding': _encoding, ...others } = headers;
  const outgoing = request(new URL(path, target), {
    method,
    headers: { ...others, 'content-length': Buffer.byteLength(body) },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { response, body: Buffer.concat(await response.toArray()) };
}
