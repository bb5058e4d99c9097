/** What a worker reports when it serves requests. */
export interface Ready {
  /** `http://host:port` */
  readonly address: string;
  /** Text for people, printed after the start. Can be empty. */
  readonly welcome: string;
}

/** The process that started this worker, and replaces it when it ends. */
export interface Supervisor {
  /** Number of this worker, from 0. */
  readonly worker: number;
  ready(ready: Ready): void;
  /** Called once, when the supervisor stops the worker or has ended itself. Until it is set, the worker exits instead. */
  onStop(stop: () => void): void;
}

/** For a process that `runWorkers` has started. The channel between them closes when it is to stop. */
export function connectToSupervisor(worker: number): Supervisor {
  let stop: () => void = () => process.exit(0);
  process.once('disconnect', () => stop());
  return {
    worker,
    // Without a channel, the supervisor has ended, and so does this process.
    ready: (ready) => void process.send?.(ready, undefined, undefined, () => undefined),
    onStop(next) {
      stop = next;
    },
  };
}
