import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { freePort } from '../../../test/processes/free-port.ts';
import { type Database, openDatabase } from './database.ts';
import { isConnectionFailure, mayHaveBeenSent } from './errors.ts';

/** Another address of the server. Its connections can be rejected, or stay open without a response. */
class Address {
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #isSilent = false;
  port = 0;

  constructor(target: URL) {
    this.#target = target;
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#forward(socket));
    // Nobody else gets it while the address is closed.
    this.port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  /** Keeps connections open and passes nothing on. */
  fallSilent(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(socket: Socket): void {
    this.#keep(socket);
    if (this.#isSilent) return;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    this.#keep(server);
    socket.pipe(server).pipe(socket);
    socket.once('close', () => server.destroy());
    server.once('close', () => socket.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
  }
}

describe('a database with several addresses', () => {
  let testDatabase: TestDatabase;
  let url: URL;
  beforeAll(async () => {
    testDatabase = await createTestDatabase(undefined, 'empty');
    url = new URL(testDatabase.url ?? '');
  });
  afterAll(() => testDatabase.dispose());

  async function openOn(...addresses: readonly (Address | number)[]): Promise<Database> {
    return openFor(30_000, ...addresses);
  }

  async function openFor(connectTimeout: number, ...addresses: readonly (Address | number)[]): Promise<Database> {
    const hosts = addresses.map((it) => `127.0.0.1:${typeof it === 'number' ? it : it.port}`).join(',');
    const databaseUrl = `postgresql://${url.username}:${url.password}@${hosts}${url.pathname}?target_session_attrs=read-write`;
    const database = await openDatabase({ databaseUrl, dataDir: '', connectTimeout });
    onTestFinished(() => database.close());
    return database;
  }

  /** Closes the addresses, and waits until the pool knows that its only connection is broken. */
  async function breakAll(database: Database, addresses: readonly Address[]): Promise<void> {
    const client = await database.pool.connect();
    for (const address of addresses) address.close();
    await expect(client.query('SELECT pg_sleep(60)', [])).rejects.toSatisfy(isConnectionFailure);
    client.release();
  }

  async function openAddress(): Promise<Address> {
    const address = new Address(url);
    await address.open();
    onTestFinished(() => address.close());
    return address;
  }

  test('uses another address when the first one is rejected', async () => {
    const [first, second] = [await openAddress(), await openAddress()];
    const database = await openOn(first, second);
    await breakAll(database, [first]);
    await database.ping();
    // And back.
    await first.open();
    await breakAll(database, [second]);
    await database.ping();
  });

  test('waits until an address accepts connections again', async () => {
    const [first, second] = [await openAddress(), await openAddress()];
    const database = await openOn(first, second);
    await breakAll(database, [first, second]);
    const waiting = database.ping();
    await expect(Promise.race([waiting, sleep(200, 'waits')])).resolves.toBe('waits');
    await second.open();
    await waiting;
  });

  test('says that the database cannot be reached when no address accepts connections in time', async () => {
    const [first, second] = [await openAddress(), await openAddress()];
    const database = await openFor(1_500, first, second);
    await breakAll(database, [first, second]);
    for (let count = 0; count < 3; count++) {
      await expect(database.ping()).rejects.toSatisfy((error) => isConnectionFailure(error) && !mayHaveBeenSent(error));
    }
  });

  test('starts when the first address is rejected', async () => {
    const unused = await openAddress();
    unused.close();
    await (await openOn(unused, await openAddress())).ping();
  });

  test('breaks connections to an address that no longer responds', async () => {
    const [first, second] = [await openAddress(), await openAddress()];
    const database = await openOn(first, second);
    const client = await database.pool.connect();
    first.fallSilent();
    const error = await client.query('SELECT 1', []).catch((thrown: unknown) => thrown);
    expect(isConnectionFailure(error)).toBe(true);
    client.release();
    await database.ping();
  });

  test('fails at once when the password is wrong', async () => {
    const hosts = `127.0.0.1:${url.port},127.0.0.1:${url.port}`;
    const databaseUrl = `postgresql://${url.username}:wrong@${hosts}${url.pathname}?target_session_attrs=read-write`;
    await expect(openDatabase({ databaseUrl, dataDir: '', connectTimeout: 600_000 })).rejects.toThrow(
      /password authentication failed/,
    );
  });
});
