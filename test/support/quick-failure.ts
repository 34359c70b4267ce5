import fc from 'fast-check';

/** For mutants: a property that fails has said enough; looking for its smallest case takes minutes. */
fc.configureGlobal({ endOnFailure: true });
