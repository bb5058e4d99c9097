-- What staff have noted about the visit. `arrived` and `completed` are booked, `no_show` is cancelled.
ALTER TABLE sandbox.appointments
  ADD COLUMN attendance text CHECK (attendance IN ('arrived', 'completed', 'no_show'));
