import { P as PRODUCTION } from './store.mjs';

function qualifiedName(name, environment) {
  return environment.name === PRODUCTION ? name : `${name}.${environment.name}`;
}

export { qualifiedName as q };
