// Runs in a thread of its own, because hashing a password keeps a processor busy for a tenth of a second.
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import type { PasswordTask } from './password.ts';

parentPort?.on('message', async (task: PasswordTask) => {
  parentPort?.postMessage(
    'hash' in task
      ? await argon2Verify({ password: task.password, hash: task.hash })
      : await argon2id({ ...task.settings, password: task.password, outputType: 'encoded' }),
  );
});
