import { setTimeout as pause } from 'node:timers/promises';
import { print } from './print.ts';

/** The messages of the demo. */
export interface Mailbox {
  /** Waits for the message about an appointment, prints it, and returns the code in it. */
  codeFor(appointmentId: string): Promise<string>;
}

interface Message {
  readonly to: string;
  readonly text: string;
  readonly appointment_id: string;
}

const pollMilliseconds = 100;
/** Milliseconds. */
const longestWait = 30_000;

export function mailboxOf(address: string): Mailbox {
  return {
    async codeFor(appointmentId) {
      const message = await messageAbout(address, appointmentId);
      print('message', `To ${message.to}: ${message.text.trim()}`);
      const [code] = /\b\d{6}\b/.exec(message.text) ?? [];
      if (code === undefined) throw new Error('The message contains no code.');
      return code;
    },
  };
}

async function messageAbout(address: string, appointmentId: string): Promise<Message> {
  const deadline = Date.now() + longestWait;
  do {
    const message = (await messages(address))?.find((it) => it.appointment_id === appointmentId);
    if (message) return message;
    await pause(pollMilliseconds);
  } while (Date.now() < deadline);
  throw new Error('The message has not arrived.');
}

/** Newest first. `undefined`: there is no demo at the address. */
export async function messages(address: string): Promise<readonly Message[] | undefined> {
  const response = await fetch(`${address}/demo/messages`, { headers: { accept: 'application/json' } });
  return response.ok ? ((await response.json()) as { messages: readonly Message[] }).messages : undefined;
}
