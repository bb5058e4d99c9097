import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Matches the request to fail. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}
type Matches = (request: ProxiedRequest) => boolean;

/** A request that was cut off before it reached the server. */
export interface LateRequest {
  /** Sends the request to the server and discards the response. Rejects if the request has not arrived yet. */
  finish(): Promise<void>;
}

/** A proxy in front of an HTTP server. Each fault applies to one request. */
export interface FaultProxy {
  /** URL of the proxy. Forwards requests unless a fault is set. */
  readonly url: string;
  /** Forwards the next matching request, drops its response, and takes the proxy down. */
  commitThenGoDown(matches: Matches): void;
  /** Cuts off the next matching request and takes the proxy down. The test decides when the server receives the request. */
  finishLate(matches: Matches): LateRequest;
  /** As `finishLate`, but the proxy stays up. */
  deliverLate(matches: Matches): LateRequest;
  /** Refuses new connections and breaks open ones. */
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
  /** Breaks the connection of the request. */
  readonly cut: () => void;
}
interface Passed {
  readonly response: IncomingMessage;
  readonly body: Buffer;
}

/** A reverse proxy on loopback that simulates network and server failures. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const faults: Fault[] = [];
  let server = await listening(handle);
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming;
    const body = Buffer.concat(await incoming.toArray()).toString('utf8');
    const held = { method, path, body, headers, cut: () => incoming.socket.destroy() };
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

  function keep(matches: Matches, afterwards: (held: Held) => Promise<void> | void): LateRequest {
    let late: Held | undefined;
    faults.push({
      matches,
      async play(held) {
        late = held;
        await afterwards(held);
      },
    });
    return {
      async finish() {
        if (!late) throw new Error('No such request has come yet');
        await passOn(target, late);
      },
    };
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
    finishLate: (matches) => keep(matches, goDown),
    deliverLate: (matches) => keep(matches, ({ cut }) => cut()),
    goDown,
    async comeUp() {
      if (!server.listening) server = await listening(handle, port);
    },
    close: goDown,
  };
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Listens on its previous port again. Retries while another process uses the port. */
async function listening(handle: Handle, port = 0): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const server = createServer((incoming, outgoing) => {
      // Any error aborts the response.
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
