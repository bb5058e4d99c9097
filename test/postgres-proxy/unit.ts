import { body, type Message, textAt } from './messages.ts';

/** What a client sends at once and the server answers with one ReadyForQuery: a simple query, or messages up to Sync. */
export interface Unit {
  /**
   * - `commit`: ends a transaction with COMMIT
   * - `statement`: commits itself, because no transaction is open
   * - `part`: neither, such as BEGIN, ROLLBACK and the statements between
   */
  readonly kind: 'commit' | 'statement' | 'part';
  /** SQL of the unit. For a `commit`: of its whole transaction, in order. */
  readonly statements: readonly string[];
  /** Names of the prepared statements that the unit executes. */
  readonly names: readonly string[];
  /** Whether one of the statements changes a table. */
  readonly writes: boolean;
  /** `application_name` of the connection. */
  readonly application: string;
}

/** ReadyForQuery's status: no transaction, in a transaction, in a failed transaction. */
export type TransactionStatus = 'I' | 'T' | 'E';

interface Executed {
  readonly text: string;
  readonly name: string;
}

/** Messages up to Sync, or one simple query. */
export interface Group {
  readonly messages: Message[];
  readonly executed: Executed[];
}

const changes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate|create|alter|drop)\b/i;
const begins = /^\s*(?:begin|start\s+transaction)\b/i;
const commits = /^\s*(?:commit|end)(?:\s+(?:work|transaction))?\s*$/i;
const rollsBack = /^\s*(?:rollback|abort)(?:\s+(?:work|transaction))?\s*$/i;

/** Follows what one connection prepares, executes and commits. */
export class Conversation {
  application = '';
  status: TransactionStatus = 'I';
  #prepared = new Map<string, string>();
  #portals = new Map<string, Executed>();
  #transaction: string[] = [];

  /** Notes a message of the client. Returns what it executes. */
  note(message: Message): Executed | undefined {
    switch (message.type) {
      case 'Q':
        return { text: textAt(message, body)[0], name: '' };
      case 'P': {
        const [name, next] = textAt(message, body);
        this.#prepared.set(name, textAt(message, next)[0]);
        return undefined;
      }
      case 'B': {
        const [portal, next] = textAt(message, body);
        const [name] = textAt(message, next);
        this.#portals.set(portal, { text: this.#prepared.get(name) ?? '', name });
        return undefined;
      }
      case 'E':
        return this.#portals.get(textAt(message, body)[0]);
      default:
        return undefined;
    }
  }

  /** What a group does in the present status. Call it once, before the group is executed. */
  unitOf({ executed }: Group): Unit {
    let [status, kind]: [TransactionStatus, Unit['kind']] = [this.status, 'part'];
    if (status === 'I') this.#transaction = [];
    for (const statement of executed.flatMap(({ text }) => statementsIn(text))) {
      if (begins.test(statement)) {
        if (status === 'I') status = 'T';
      } else if (rollsBack.test(statement)) {
        status = 'I';
        this.#transaction = [];
      } else if (commits.test(statement)) {
        // COMMIT of a failed transaction rolls it back.
        if (status === 'T') kind = 'commit';
        status = 'I';
      } else {
        this.#transaction.push(statement);
        if (status === 'I') kind = 'statement';
      }
    }
    const own = executed.map(({ text }) => text);
    const statements = kind === 'part' ? own : [...this.#transaction];
    return {
      kind,
      statements,
      names: executed.map(({ name }) => name).filter((name) => name !== ''),
      writes: statements.some((text) => changes.test(text)),
      application: this.application,
    };
  }
}

/** A simple query can contain several statements. The bodies of functions are not taken apart. */
function statementsIn(text: string): string[] {
  return text.includes('$$') ? [text] : text.split(';').filter((part) => part.trim() !== '');
}
