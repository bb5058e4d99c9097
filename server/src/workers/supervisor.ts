/** What a worker reports when it serves requests. */
export interface Ready {
  /** `http://host:port` */
  readonly address: string;
  /** Text for people, printed after the start. Can be empty. */
  readonly welcome: string;
}

/** What workers tell each other through the process that started them: to read the configuration file again. */
export interface ReloadMessage {
  readonly reload: { readonly isForced: boolean };
}

/** The process that started this worker, and replaces it when it ends. */
export interface Supervisor {
  /** Number of this worker, from 0. */
  readonly worker: number;
  ready(ready: Ready): void;
  /** Called once, when the supervisor stops the worker or has ended itself. Until it is set, the worker exits instead. */
  onStop(stop: () => void): void;
  /** Lets the other workers read the configuration file again. */
  reloadOthers(isForced: boolean): void;
  /** Called when another worker wants that of this one. */
  onReload(reload: (isForced: boolean) => void): void;
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
    reloadOthers(isForced) {
      const message: ReloadMessage = { reload: { isForced } };
      process.send?.(message, undefined, undefined, () => undefined);
    },
    onReload: (reload) => void process.on('message', (it: ReloadMessage) => reload(it.reload.isForced)),
  };
}
