import { connect, type Socket } from 'node:net';
import { body, type Message, MessageReader } from './messages.ts';
import { Conversation, type Group, type TransactionStatus, type Unit } from './unit.ts';
import type { Failure } from './ways.ts';

/** https://www.postgresql.org/docs/current/protocol-message-formats.html: codes in place of a protocol version. */
const cancelRequest = 80_877_102;
const encryptionRequests = [80_877_103, 80_877_104];

interface Proxy {
  /** Called once for each unit, before the server gets it. */
  failureOf(unit: Unit): Failure | undefined;
  /** Breaks all connections and refuses new ones. */
  goDown(refuseMilliseconds: number | undefined): void;
}

/**
 * - `pass`: the client gets answers
 * - `all but the end`: the client gets answers except ReadyForQuery
 * - `drop`: the client gets nothing
 */
type Answers = 'pass' | 'all but the end' | 'drop';

/**
 * One connection of a client to the server. The server gets a unit when it has answered the one before, so the status of the
 * transaction is known for each, also if the client sends many at once.
 */
export class ProxiedConnection {
  readonly #proxy: Proxy;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #conversation = new Conversation();
  readonly #fromClient = new MessageReader();
  readonly #fromServer = new MessageReader();
  #beforeStartup: Buffer | undefined = Buffer.alloc(0);
  #isAuthenticated = false;
  #group: Group = { messages: [], executed: [] };
  readonly #groups: Group[] = [];
  #isBusy = false;
  /** The client is gone, and the server still has to get or execute a unit. */
  #keepsServer = false;
  #answers: Answers = 'pass';
  #whenReady: (() => void) | undefined;
  readonly #closed = Promise.withResolvers<void>();
  /** Resolves when both sides are closed. */
  readonly closed = this.#closed.promise;

  constructor(client: Socket, target: URL, proxy: Proxy) {
    this.#proxy = proxy;
    this.#client = client.setNoDelay(true);
    this.#server = connect(Number(target.port), target.hostname).setNoDelay(true);
    client.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#server.on('data', (chunk: Buffer) => this.#answer(chunk));
    for (const socket of [client, this.#server]) socket.on('error', () => undefined);
    client.once('close', () => {
      if (!this.#keepsServer) this.#server.end();
      this.#end();
    });
    this.#server.once('close', () => {
      this.#whenReady?.();
      client.destroySoon();
      this.#end();
    });
  }

  /** Breaks both sides. A statement that the server executes is not stopped. */
  break(): void {
    this.#client.destroy();
    if (!this.#keepsServer) this.#server.end();
  }

  /** Breaks both sides, whatever is held. */
  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #end(): void {
    if (this.#client.closed && this.#server.closed) this.#closed.resolve();
  }

  #receive(chunk: Buffer): void {
    const rest = this.#beforeStartup === undefined ? chunk : this.#startUp(Buffer.concat([this.#beforeStartup, chunk]));
    for (const message of this.#fromClient.read(rest)) this.#receiveMessage(message);
  }

  /** The first messages of a client have no type. Returns what follows them. */
  #startUp(bytes: Buffer): Buffer {
    this.#beforeStartup = bytes;
    const nothing = Buffer.alloc(0);
    if (bytes.length < 8 || bytes.length < bytes.readUInt32BE(0)) return nothing;
    const [length, code] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
    const rest = bytes.subarray(length);
    if (encryptionRequests.includes(code)) {
      // Not supported, since encrypted messages cannot be read.
      this.#client.write('N');
      return this.#startUp(rest);
    }
    this.#server.write(bytes.subarray(0, length));
    this.#beforeStartup = undefined;
    if (code === cancelRequest) return nothing;
    const parameters = bytes.toString('utf8', 8, length).split('\0');
    this.#conversation.application = parameters[parameters.indexOf('application_name') + 1] ?? '';
    return rest;
  }

  #receiveMessage(message: Message): void {
    const isOfCopy = ['d', 'c', 'f'].includes(message.type);
    if (!this.#isAuthenticated || isOfCopy) {
      this.#server.write(message.bytes);
      return;
    }
    if (message.type === 'X') {
      if (!this.#keepsServer) this.#server.end(message.bytes);
      return;
    }
    const executed = this.#conversation.note(message);
    if (executed) this.#group.executed.push(executed);
    this.#group.messages.push(message);
    if (message.type === 'H' && !this.#isBusy) {
      // The client waits for answers before it sends Sync.
      for (const { bytes } of this.#group.messages.splice(0)) this.#server.write(bytes);
    }
    if (message.type !== 'S' && message.type !== 'Q') return;
    this.#groups.push(this.#group);
    this.#group = { messages: [], executed: [] };
    void this.#next();
  }

  async #next(): Promise<void> {
    const group = this.#isBusy ? undefined : this.#groups.shift();
    if (!group) return;
    this.#isBusy = true;
    const unit = this.#conversation.unitOf(group);
    const failure = this.#proxy.failureOf(unit);
    if (failure) {
      await this.#fail(group, unit, failure);
      failure.settle(unit);
      // What a broken connection still had on its way is lost.
      if (this.#client.destroyed) this.#groups.length = 0;
    } else {
      await this.#send(group.messages);
    }
    // Nothing follows on a connection that fell silent.
    if (this.#answers !== 'pass') return;
    this.#isBusy = false;
    void this.#next();
  }

  async #fail({ messages }: Group, unit: Unit, failure: Failure): Promise<void> {
    const { way } = failure;
    switch (way.kind) {
      case 'before':
        this.break();
        failure.meet(unit);
        await this.#serverClosed();
        return;
      case 'after':
        await this.#send(messages, 'drop');
        this.break();
        return;
      case 'late':
      case 'delay':
        this.#keepsServer = true;
        if (way.kind === 'late') this.#client.destroy();
        failure.meet(unit);
        await failure.hold();
        await this.#send(messages);
        this.#keepsServer = false;
        if (this.#client.destroyed) this.#server.end();
        return;
      case 'silent':
        await this.#send(messages, 'drop');
        return;
      case 'in request':
        this.#server.end(partOf(messages, unit));
        this.#client.destroy();
        failure.meet(unit);
        await this.#serverClosed();
        return;
      case 'in answer':
        await this.#send(messages, 'all but the end');
        this.#client.destroySoon();
        this.#server.end();
        return;
      case 'all':
        if (way.at === 'after') await this.#send(messages, 'drop');
        this.#proxy.goDown(way.refuseMilliseconds);
        if (way.at === 'before') await this.#serverClosed();
        return;
    }
  }

  /** Sends a group, and waits until the server has answered it or has closed the connection. */
  async #send(messages: readonly Message[], answers: Answers = 'pass'): Promise<void> {
    this.#answers = answers;
    if (this.#server.closed) return;
    const ready = new Promise<void>((resolve) => {
      this.#whenReady = resolve;
    });
    this.#server.write(Buffer.concat(messages.map(({ bytes }) => bytes)));
    await ready;
    this.#whenReady = undefined;
  }

  async #serverClosed(): Promise<void> {
    if (!this.#server.closed) await new Promise((resolve) => this.#server.once('close', resolve));
  }

  #answer(chunk: Buffer): void {
    const messages = this.#fromServer.read(chunk);
    const shown = messages.filter(({ type }) => {
      return this.#answers === 'pass' || (this.#answers === 'all but the end' && type !== 'Z');
    });
    if (shown.length > 0 && this.#client.writable) this.#client.write(Buffer.concat(shown.map(({ bytes }) => bytes)));
    for (const message of messages) {
      if (message.type !== 'Z') continue;
      this.#conversation.status = String.fromCharCode(message.bytes[body] ?? 0) as TransactionStatus;
      this.#isAuthenticated = true;
      this.#whenReady?.();
    }
  }
}

/**
 * A part of a group that has no effect when the connection then closes: all but Sync, or up to the Execute of COMMIT, which takes
 * effect without Sync. Half of a single message.
 */
function partOf(messages: readonly Message[], { kind }: Unit): Buffer {
  const [first] = messages;
  if (messages.length === 1 && first) return first.bytes.subarray(0, Math.ceil(first.bytes.length / 2));
  const end = kind === 'commit' ? messages.findIndex(({ type }) => type === 'E') : -1;
  return Buffer.concat(messages.slice(0, end).map(({ bytes }) => bytes));
}
