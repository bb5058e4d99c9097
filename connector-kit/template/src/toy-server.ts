import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

// Synthetic patients: NHS numbers from 999 000 0000 are never issued. Staff have written them as they liked.
const patients = [
  { id: '1001', nhs: '999 000 0018', given: 'Merry', family: 'Meadow', born: '1979-05-12', sex: 'female' },
  { id: '1002', nhs: null, given: 'Jolly', family: 'Brook', born: '2001-11-30', sex: 'male' },
  // Twins, of whom one has the number of the other.
  { id: '1003', nhs: '9990000034', given: 'Sunny', family: 'Vale', born: '2010-02-03', sex: 'female' },
  { id: '1004', nhs: '9990000034', given: 'Misty', family: 'Vale', born: '2010-02-03', sex: 'female' },
];
const services = [
  { code: 'consultation', label: 'Consultation', minutes: 30 },
  { code: 'blood-test', label: 'Blood test', minutes: 10 },
];

interface Search {
  readonly id?: string;
  readonly nhs?: readonly string[];
}

async function responseTo(request: IncomingMessage): Promise<[status: number, body: object]> {
  switch (`${request.method} ${request.url}`) {
    case 'POST /patients/search': {
      const { id, nhs } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Search;
      const found = patients.filter((it) =>
        id === undefined ? nhs?.some((number) => number === it.nhs) : it.id === id,
      );
      return [200, { patients: found }];
    }
    case 'GET /services':
      return [200, { services }];
    default:
      return [404, { error: 'not found' }];
  }
}

export interface ToyServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a minimal EHR server. */
export async function startToyServer(port = 0): Promise<ToyServer> {
  const server = createServer((request, response) => {
    void responseTo(request)
      .catch((): [number, object] => [400, { error: 'invalid request' }])
      .then(([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

if (import.meta.main) {
  const { url } = await startToyServer(Number(process.env.EHR_PORT ?? 4400));
  process.stdout.write(`Toy EHR listening at ${url}\n`);
}
