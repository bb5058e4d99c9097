import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { freePort } from '../processes/free-port.ts';

/** A request that the proxy received. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}
/** Selects the request to fail. */
type Matches = (request: ProxiedRequest) => boolean;

/** A request that was cut off before it reached the server. */
export interface LateRequest {
  /** Sends the request to the server and discards the response. Rejects if the request has not arrived yet. */
  finish(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
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
  /** Forwards the next matching request and its response, and answers each later one itself, until `comeUp`. */
  answerAfter(matches: Matches, answer: Answer): void;
  /** Refuses new connections and breaks open ones. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

interface Fault {
  readonly matches: Matches;
  /** @param respond sends the server's response to the client */
  play(request: ReceivedRequest, respond: (forwarded: Forwarded) => void): Promise<void>;
}
interface ReceivedRequest extends ProxiedRequest {
  readonly headers: IncomingMessage['headers'];
  /** Breaks the connection of the request. */
  readonly cut: () => void;
}
interface Forwarded {
  readonly response: IncomingMessage;
  readonly body: Buffer;
}

/** A reverse proxy on loopback that simulates network and server failures. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const faults: Fault[] = [];
  // Nobody else gets it while the proxy is down.
  const port = await freePort();
  let server = await listening(handle, port);
  let answer: Answer | undefined;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming;
    const body = Buffer.concat(await incoming.toArray()).toString('utf8');
    const received = { method, path, body, headers, cut: () => incoming.socket.destroy() };
    if (answer) {
      outgoing.writeHead(answer.status, { 'content-type': answer.contentType }).end(answer.text);
      return;
    }
    const respond = (forwarded: Forwarded) =>
      void outgoing.writeHead(forwarded.response.statusCode ?? 502, forwarded.response.headers).end(forwarded.body);
    const fault = faults.find(({ matches }) => matches(received));
    if (fault) {
      faults.splice(faults.indexOf(fault), 1);
      await fault.play(received, respond);
      return;
    }
    respond(await forward(target, received));
  }

  async function goDown(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  function keep(matches: Matches, afterwards: (received: ReceivedRequest) => Promise<void> | void): LateRequest {
    let late: ReceivedRequest | undefined;
    faults.push({
      matches,
      async play(received) {
        late = received;
        await afterwards(received);
      },
    });
    return {
      async finish() {
        if (!late) throw new Error('No matching request has arrived yet');
        await forward(target, late);
      },
    };
  }

  return {
    url: `http://127.0.0.1:${port}`,
    commitThenGoDown(matches) {
      faults.push({
        matches,
        async play(received) {
          await forward(target, received);
          await goDown();
        },
      });
    },
    finishLate: (matches) => keep(matches, goDown),
    deliverLate: (matches) => keep(matches, ({ cut }) => cut()),
    answerAfter(matches, later) {
      faults.push({
        matches,
        async play(received, respond) {
          const forwarded = await forward(target, received);
          answer = later;
          respond(forwarded);
        },
      });
    },
    goDown,
    async comeUp() {
      answer = undefined;
      if (!server.listening) server = await listening(handle, port);
    },
    close: goDown,
  };
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

async function listening(handle: Handle, port: number): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    // Any error aborts the response.
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

async function forward(target: string, { method, path, body, headers }: ReceivedRequest): Promise<Forwarded> {
  const { host: _host, connection: _connection, 'transfer-encoding': _encoding, ...others } = headers;
  const outgoing = request(new URL(path, target), {
    method,
    headers: { ...others, 'content-length': Buffer.byteLength(body) },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { response, body: Buffer.concat(await response.toArray()) };
}
