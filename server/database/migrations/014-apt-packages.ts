/** Debian packages that language plans install for a service, in JSON. */
export default `
ALTER TABLE services ADD COLUMN apt_packages TEXT NOT NULL DEFAULT '[]';
`
