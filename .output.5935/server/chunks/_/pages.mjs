const assets = {
  "/assets/AccountPage-goYh-6Dw.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2048-vchCGc9frTo1dmBEDpij9ZdlJCg\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 8264,
    "path": "../public/assets/AccountPage-goYh-6Dw.js"
  },
  "/assets/AccountPage-goYh-6Dw.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"b54-vjvItIIeTwPNlZPlmZaBLAaaR9E\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 2900,
    "path": "../public/assets/AccountPage-goYh-6Dw.js.br"
  },
  "/assets/AccountPage-goYh-6Dw.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"cf9-hPi/jmbxfnS1PeLlVy0RfxeHI00\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 3321,
    "path": "../public/assets/AccountPage-goYh-6Dw.js.gz"
  },
  "/assets/ActionMenu-6xTWphNd.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"cbf5-4IFuU5Vj0GXPAN+l/isU/aGWqNQ\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 52213,
    "path": "../public/assets/ActionMenu-6xTWphNd.js"
  },
  "/assets/ActionMenu-6xTWphNd.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"3a09-KzEdP76VsJXftyv4FfnuQHymIL0\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 14857,
    "path": "../public/assets/ActionMenu-6xTWphNd.js.br"
  },
  "/assets/ActionMenu-6xTWphNd.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"4046-z/xmJii1B0fCfUetdMP6BRIkWVU\"",
    "mtime": "2026-11-26T23:27:13.276Z",
    "size": 16454,
    "path": "../public/assets/ActionMenu-6xTWphNd.js.gz"
  },
  "/assets/BlueprintEditorPage-D3BQbgsi.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2792-/xzqL3A7NBfCpkQkDVy+hzYHUVQ\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 10130,
    "path": "../public/assets/BlueprintEditorPage-D3BQbgsi.js"
  },
  "/assets/BlueprintEditorPage-D3BQbgsi.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"f31-oiPEIA0ThpeyyE0YjRjdFWvWsnA\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 3889,
    "path": "../public/assets/BlueprintEditorPage-D3BQbgsi.js.br"
  },
  "/assets/BlueprintEditorPage-D3BQbgsi.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"1108-fja01VOrwajW1PG2mRdevLKskBE\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 4360,
    "path": "../public/assets/BlueprintEditorPage-D3BQbgsi.js.gz"
  },
  "/assets/BlueprintsPage-DTwVPhfE.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"236c-Q+/tS9YwRy8Bkimd8EzFBEn+jp4\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 9068,
    "path": "../public/assets/BlueprintsPage-DTwVPhfE.js"
  },
  "/assets/BlueprintsPage-DTwVPhfE.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"c38-H49ZBrZitK1usnizCXwan0gsCTM\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 3128,
    "path": "../public/assets/BlueprintsPage-DTwVPhfE.js.br"
  },
  "/assets/BlueprintsPage-DTwVPhfE.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"db6-ExVJhC6BQwflS96k7eOgQEt7aGA\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 3510,
    "path": "../public/assets/BlueprintsPage-DTwVPhfE.js.gz"
  },
  "/assets/CallbackPage-D640wkOw.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"56d-itaBKbtyF/2U65bAuKVR9Zfvrlo\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 1389,
    "path": "../public/assets/CallbackPage-D640wkOw.js"
  },
  "/assets/CallbackPage-D640wkOw.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2de-GZswmBNCgHEDVmQahH2DZx3Sg6c\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 734,
    "path": "../public/assets/CallbackPage-D640wkOw.js.br"
  },
  "/assets/CallbackPage-D640wkOw.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"345-8F+hLuV/SJnI9fBhwvuODn+cJU4\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 837,
    "path": "../public/assets/CallbackPage-D640wkOw.js.gz"
  },
  "/assets/CancelDialog-CxnDsyDX.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"2a4-YRDkffftbSVZ3yWhYD6onbVkGvU\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 676,
    "path": "../public/assets/CancelDialog-CxnDsyDX.js"
  },
  "/assets/ChoiceCards-Di414-V_.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"941-7tS2h2r2UGDTZNPRe/uzwTOoNmY\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 2369,
    "path": "../public/assets/ChoiceCards-Di414-V_.js"
  },
  "/assets/ChoiceCards-Di414-V_.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"427-g/4MSQSTTS4tN4zw3f31UzUx0sM\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 1063,
    "path": "../public/assets/ChoiceCards-Di414-V_.js.br"
  },
  "/assets/ChoiceCards-Di414-V_.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"4b1-MaLDHpuUQEWmnxxVTydGQ26XCRs\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 1201,
    "path": "../public/assets/ChoiceCards-Di414-V_.js.gz"
  },
  "/assets/CliLoginPage-BhMa0nuE.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"ef2-AF7GMIYyP4+xuyKI/jPEC+uM7MI\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 3826,
    "path": "../public/assets/CliLoginPage-BhMa0nuE.js"
  },
  "/assets/CliLoginPage-BhMa0nuE.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"645-CFEf2eyjRkt6qz6LYNWvwVPrG0o\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 1605,
    "path": "../public/assets/CliLoginPage-BhMa0nuE.js.br"
  },
  "/assets/CliLoginPage-BhMa0nuE.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"73d-G/uDPEnaO+fYOk903RWz8QxktM0\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 1853,
    "path": "../public/assets/CliLoginPage-BhMa0nuE.js.gz"
  },
  "/assets/CommandPalette-Bv_mJg_o.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"15e3-6VbXDltsvaYxQ/wNEHDOV56Fl+I\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 5603,
    "path": "../public/assets/CommandPalette-Bv_mJg_o.js"
  },
  "/assets/CommandPalette-Bv_mJg_o.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"995-dsfb4fxA7vSnWlslpH7JG+KmhMQ\"",
    "mtime": "2026-11-26T23:27:13.276Z",
    "size": 2453,
    "path": "../public/assets/CommandPalette-Bv_mJg_o.js.br"
  },
  "/assets/CommandPalette-Bv_mJg_o.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"a94-iiSip0rhuX59PKOERv8hqGi6YCY\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 2708,
    "path": "../public/assets/CommandPalette-Bv_mJg_o.js.gz"
  },
  "/assets/DatastoreBackups-BaIipczm.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"23cc-jKn4rWycE7uw7KSExvmPm6cIWm8\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 9164,
    "path": "../public/assets/DatastoreBackups-BaIipczm.js"
  },
  "/assets/DatastoreBackups-BaIipczm.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"c94-jeXVpcNuk4kIIt8bV8pCn11Cnbc\"",
    "mtime": "2026-11-26T23:27:13.276Z",
    "size": 3220,
    "path": "../public/assets/DatastoreBackups-BaIipczm.js.br"
  },
  "/assets/DatastoreBackups-BaIipczm.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"e3d-bSoKZ2vnHVc0otCpDs0eeeTVzns\"",
    "mtime": "2026-11-26T23:27:13.080Z",
    "size": 3645,
    "path": "../public/assets/DatastoreBackups-BaIipczm.js.gz"
  },
  "/assets/DatastoreLogs-BFQHIUYi.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"35b-hKw40BjJWQQ0WUbi0cUlp7i8z8Y\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 859,
    "path": "../public/assets/DatastoreLogs-BFQHIUYi.js"
  },
  "/assets/DatastoreOverview-B_9LatfE.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1cb1-8OijCfxpx3WO8p/MRxRt6PWXf28\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 7345,
    "path": "../public/assets/DatastoreOverview-B_9LatfE.js"
  },
  "/assets/DatastoreOverview-B_9LatfE.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"9ce-u4YuB846DWHxREzjj6Ovv/kOEw8\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 2510,
    "path": "../public/assets/DatastoreOverview-B_9LatfE.js.br"
  },
  "/assets/DatastoreOverview-B_9LatfE.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"b04-yocFReEWmi9JWyskZOXw0SwjozY\"",
    "mtime": "2026-11-26T23:27:13.276Z",
    "size": 2820,
    "path": "../public/assets/DatastoreOverview-B_9LatfE.js.gz"
  },
  "/assets/DatastorePage-DYFtTbxn.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"9e1-qw0pjqMZLXfiqA/CsCwpIOetyns\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 2529,
    "path": "../public/assets/DatastorePage-DYFtTbxn.js"
  },
  "/assets/DatastorePage-DYFtTbxn.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"49a-aDpbXLuC4duz07fkssuCXZhP3QQ\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 1178,
    "path": "../public/assets/DatastorePage-DYFtTbxn.js.br"
  },
  "/assets/DatastorePage-DYFtTbxn.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"519-Y4n4okPTU1CkU8TH7Q3G2M3rk7A\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 1305,
    "path": "../public/assets/DatastorePage-DYFtTbxn.js.gz"
  },
  "/assets/DatastoreSettings-CJWnz6Em.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1315-rmaeOkByuWKFDqkCWbmDgxTUup0\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 4885,
    "path": "../public/assets/DatastoreSettings-CJWnz6Em.js"
  },
  "/assets/DatastoreSettings-CJWnz6Em.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"7ae-t+UuxVtP0NDIyUYFYauJ1qHUhVc\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 1966,
    "path": "../public/assets/DatastoreSettings-CJWnz6Em.js.br"
  },
  "/assets/DatastoreSettings-CJWnz6Em.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"8e0-34R5WLZSFfthQ34bHCIB/Oy33zc\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 2272,
    "path": "../public/assets/DatastoreSettings-CJWnz6Em.js.gz"
  },
  "/assets/DatastoresPage-Blcd0xMa.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"d6f-v1Oz1P28O07MBGXhCRID+WlSh4U\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 3439,
    "path": "../public/assets/DatastoresPage-Blcd0xMa.js"
  },
  "/assets/DatastoresPage-Blcd0xMa.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"5dc-UEa7PaEA8Velrk2ZEHPvG3vHUT0\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 1500,
    "path": "../public/assets/DatastoresPage-Blcd0xMa.js.br"
  },
  "/assets/DatastoresPage-Blcd0xMa.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"698-KrxHlL8FgEI2O3UX+lMkwReA8sA\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 1688,
    "path": "../public/assets/DatastoresPage-Blcd0xMa.js.gz"
  },
  "/assets/DeployPage-DLVia11Z.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"218d-c2PsywOGqIfw8/S0A1mkURWlmqE\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 8589,
    "path": "../public/assets/DeployPage-DLVia11Z.js"
  },
  "/assets/DeployPage-DLVia11Z.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"cda-5scW70Ziw0z/6QkfprbK8NGjEnY\"",
    "mtime": "2026-11-26T23:27:13.624Z",
    "size": 3290,
    "path": "../public/assets/DeployPage-DLVia11Z.js.br"
  },
  "/assets/DeployPage-DLVia11Z.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"e23-OxpL3qVnvN7ebrjLDLKcVVCA00s\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 3619,
    "path": "../public/assets/DeployPage-DLVia11Z.js.gz"
  },
  "/assets/DomainsPage-3bDfaX7w.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2e54-Dr7OjkeBYXUuuFWA6veuE+eLV5o\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 11860,
    "path": "../public/assets/DomainsPage-3bDfaX7w.js"
  },
  "/assets/DomainsPage-3bDfaX7w.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"e9e-ftuznDduJKk84vEiFBj4QlDqlaQ\"",
    "mtime": "2026-11-26T23:27:13.624Z",
    "size": 3742,
    "path": "../public/assets/DomainsPage-3bDfaX7w.js.br"
  },
  "/assets/DomainsPage-3bDfaX7w.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"10bc-lWELNGYC3SABvx/tHl6I+VOWvAg\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 4284,
    "path": "../public/assets/DomainsPage-3bDfaX7w.js.gz"
  },
  "/assets/EnvGroupPage-BDQt4Hkj.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1ce2-Yc4JNNS04n0B2wT3tucX1PhBXws\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 7394,
    "path": "../public/assets/EnvGroupPage-BDQt4Hkj.js"
  },
  "/assets/EnvGroupPage-BDQt4Hkj.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"aba-rhtcIxcwguXlq6/rtTVO7Ep7z1g\"",
    "mtime": "2026-11-26T23:27:13.608Z",
    "size": 2746,
    "path": "../public/assets/EnvGroupPage-BDQt4Hkj.js.br"
  },
  "/assets/EnvGroupPage-BDQt4Hkj.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"c09-aUJnWLWcb6plK+Zs1yEYhwQDyvY\"",
    "mtime": "2026-11-26T23:27:13.552Z",
    "size": 3081,
    "path": "../public/assets/EnvGroupPage-BDQt4Hkj.js.gz"
  },
  "/assets/EnvGroupsPage-CF5xsi40.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"d6f-ZYbtPUuqJ1JlgYeO+Kz0mckzWHk\"",
    "mtime": "2026-11-26T23:27:12.635Z",
    "size": 3439,
    "path": "../public/assets/EnvGroupsPage-CF5xsi40.js"
  },
  "/assets/EnvGroupsPage-CF5xsi40.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"634-Sk3lIpai19pJz5CuElwDvI8SsUk\"",
    "mtime": "2026-11-26T23:27:13.632Z",
    "size": 1588,
    "path": "../public/assets/EnvGroupsPage-CF5xsi40.js.br"
  },
  "/assets/EnvGroupsPage-CF5xsi40.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"70d-XKG6OSF+L0tqc/xyiGHMuGM1HT8\"",
    "mtime": "2026-11-26T23:27:13.608Z",
    "size": 1805,
    "path": "../public/assets/EnvGroupsPage-CF5xsi40.js.gz"
  },
  "/assets/EnvironmentsPage-kOwOS42V.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"13c5-2+X12XBKEujUtWAj5COaf1qznF4\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 5061,
    "path": "../public/assets/EnvironmentsPage-kOwOS42V.js"
  },
  "/assets/EnvironmentsPage-kOwOS42V.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"791-z3pGw75mgzsRkcPmvHz2y424f4M\"",
    "mtime": "2026-11-26T23:27:13.632Z",
    "size": 1937,
    "path": "../public/assets/EnvironmentsPage-kOwOS42V.js.br"
  },
  "/assets/EnvironmentsPage-kOwOS42V.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"889-pEuTug9sqFw4Ybzs+bdP1HMYIFU\"",
    "mtime": "2026-11-26T23:27:13.608Z",
    "size": 2185,
    "path": "../public/assets/EnvironmentsPage-kOwOS42V.js.gz"
  },
  "/assets/FoldedCard-cUzn1mwX.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"274-OYV6E7TiWODJmOANJCE1ZFmphmE\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 628,
    "path": "../public/assets/FoldedCard-cUzn1mwX.js"
  },
  "/assets/GitPage-B4_2NSCd.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"343a-mh6TQaY22xfwte07+mLpmrbYLb4\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 13370,
    "path": "../public/assets/GitPage-B4_2NSCd.js"
  },
  "/assets/GitPage-B4_2NSCd.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"10e3-f9/IVMKIcDNsNNMbyXW7dSTnQUg\"",
    "mtime": "2026-11-26T23:27:13.824Z",
    "size": 4323,
    "path": "../public/assets/GitPage-B4_2NSCd.js.br"
  },
  "/assets/GitPage-B4_2NSCd.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"1321-uiAkAxzbfq26G0wS8ZGume/68wo\"",
    "mtime": "2026-11-26T23:27:13.744Z",
    "size": 4897,
    "path": "../public/assets/GitPage-B4_2NSCd.js.gz"
  },
  "/assets/HostDetails-Db5YQZ6i.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"7c9-F4b/5/avDdawJYdUqU8gW/KjDOI\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1993,
    "path": "../public/assets/HostDetails-Db5YQZ6i.js"
  },
  "/assets/HostDetails-Db5YQZ6i.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"3c1-t+na2an4CVSL1t3P1K5TJHpmr+c\"",
    "mtime": "2026-11-26T23:27:13.744Z",
    "size": 961,
    "path": "../public/assets/HostDetails-Db5YQZ6i.js.br"
  },
  "/assets/HostDetails-Db5YQZ6i.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"431-daZyG0avrCUcwwVelHUcmQ34/Zs\"",
    "mtime": "2026-11-26T23:27:13.744Z",
    "size": 1073,
    "path": "../public/assets/HostDetails-Db5YQZ6i.js.gz"
  },
  "/assets/JobPage-BPw9qSGD.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"b14-bQdyISTtWdx18JdVkAqeJ6g9jiI\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 2836,
    "path": "../public/assets/JobPage-BPw9qSGD.js"
  },
  "/assets/JobPage-BPw9qSGD.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"518-VfiAWNIw4tVG5+aMQ1yVMLre7Bc\"",
    "mtime": "2026-11-26T23:27:13.744Z",
    "size": 1304,
    "path": "../public/assets/JobPage-BPw9qSGD.js.br"
  },
  "/assets/JobPage-BPw9qSGD.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"58f-lgKOz+7K6crrvzXFAzJy+E4Q4r8\"",
    "mtime": "2026-11-26T23:27:13.744Z",
    "size": 1423,
    "path": "../public/assets/JobPage-BPw9qSGD.js.gz"
  },
  "/assets/LastRun-CLy9Flbj.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"3e9-t02BH+akSFJDHoE128GZjBsw9jM\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1001,
    "path": "../public/assets/LastRun-CLy9Flbj.js"
  },
  "/assets/LimitFields-mA2ST01G.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"521-GM9V6DOgkgrJkC81yZp0F7i9hCc\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1313,
    "path": "../public/assets/LimitFields-mA2ST01G.js"
  },
  "/assets/LimitFields-mA2ST01G.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"23c-7+xwlQN8DHrBK0ERefRNkc9HgkY\"",
    "mtime": "2026-11-26T23:27:13.756Z",
    "size": 572,
    "path": "../public/assets/LimitFields-mA2ST01G.js.br"
  },
  "/assets/LimitFields-mA2ST01G.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"28c-My6uYnnDJu2RYKWGvD5VQKErEC8\"",
    "mtime": "2026-11-26T23:27:13.756Z",
    "size": 652,
    "path": "../public/assets/LimitFields-mA2ST01G.js.gz"
  },
  "/assets/LinkPicker-BajA9dCk.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"53f-GyU99mBInQ2beZCVgeULHbbdEAA\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1343,
    "path": "../public/assets/LinkPicker-BajA9dCk.js"
  },
  "/assets/LinkPicker-BajA9dCk.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2df-pNq2HKpDW+08gzL/VLd6+JOdqJU\"",
    "mtime": "2026-11-26T23:27:13.756Z",
    "size": 735,
    "path": "../public/assets/LinkPicker-BajA9dCk.js.br"
  },
  "/assets/LinkPicker-BajA9dCk.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"337-EAhqlnSIRTD1J7O1+uCtssZoFuU\"",
    "mtime": "2026-11-26T23:27:13.756Z",
    "size": 823,
    "path": "../public/assets/LinkPicker-BajA9dCk.js.gz"
  },
  "/assets/LogFilterBar-D6kwWqel.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1154-70L+nDsT7O664U+8BMWo8GC6DH4\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 4436,
    "path": "../public/assets/LogFilterBar-D6kwWqel.js"
  },
  "/assets/LogFilterBar-D6kwWqel.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"6ab-yfSLbONADuVkZtpsBfytGyQdkO4\"",
    "mtime": "2026-11-26T23:27:13.800Z",
    "size": 1707,
    "path": "../public/assets/LogFilterBar-D6kwWqel.js.br"
  },
  "/assets/LogFilterBar-D6kwWqel.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"78f-qE+9EMEzXUYiSmVF0hDUcuumlpU\"",
    "mtime": "2026-11-26T23:27:13.756Z",
    "size": 1935,
    "path": "../public/assets/LogFilterBar-D6kwWqel.js.gz"
  },
  "/assets/LogView-DFb5Yd4T.css": {
    "type": "text/css; charset=utf-8",
    "encoding": null,
    "etag": "\"600-iDfCpMRJlCeQz4rztlWGMqCcqIU\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1536,
    "path": "../public/assets/LogView-DFb5Yd4T.css"
  },
  "/assets/LogView-DFb5Yd4T.css.br": {
    "type": "text/css; charset=utf-8",
    "encoding": "br",
    "etag": "\"222-cak1RsHrTmHXvS4cDB+y+n03650\"",
    "mtime": "2026-11-26T23:27:13.760Z",
    "size": 546,
    "path": "../public/assets/LogView-DFb5Yd4T.css.br"
  },
  "/assets/LogView-DFb5Yd4T.css.gz": {
    "type": "text/css; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"29b-tXDXMYqId9RkFdAfS/DxGN+4gbM\"",
    "mtime": "2026-11-26T23:27:13.760Z",
    "size": 667,
    "path": "../public/assets/LogView-DFb5Yd4T.css.gz"
  },
  "/assets/LogView-e251aAqe.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"d5e9-0zuqOPNq+Fjay7CCsmLeQHmoTHg\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 54761,
    "path": "../public/assets/LogView-e251aAqe.js"
  },
  "/assets/LogView-e251aAqe.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"408e-6f3xmFjcJTmqj6ZmtpM58Rb0S/M\"",
    "mtime": "2026-11-26T23:27:14.788Z",
    "size": 16526,
    "path": "../public/assets/LogView-e251aAqe.js.br"
  },
  "/assets/LogView-e251aAqe.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"4715-IpdsGiJMlt7T39KUfONUWduWR9U\"",
    "mtime": "2026-11-26T23:27:13.824Z",
    "size": 18197,
    "path": "../public/assets/LogView-e251aAqe.js.gz"
  },
  "/assets/NameDialog-zDGcc8jt.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"357-5yr9gjuZmhswTSY6hLSoppSHhb8\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 855,
    "path": "../public/assets/NameDialog-zDGcc8jt.js"
  },
  "/assets/NameField-BiSexl_l.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"33e-FfeHFRUW3nCDt22s0zO83GneJ10\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 830,
    "path": "../public/assets/NameField-BiSexl_l.js"
  },
  "/assets/NewDatastorePage-QzO2XxjF.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"ca9-ROQIEoxP/yO9zVH7t3EPAT4K09Y\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 3241,
    "path": "../public/assets/NewDatastorePage-QzO2XxjF.js"
  },
  "/assets/NewDatastorePage-QzO2XxjF.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"57f-2DfE7SVJ39AYMbQnT/wJkv/MuHw\"",
    "mtime": "2026-11-26T23:27:13.840Z",
    "size": 1407,
    "path": "../public/assets/NewDatastorePage-QzO2XxjF.js.br"
  },
  "/assets/NewDatastorePage-QzO2XxjF.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"657-mj2BO8gV0ZRSU5mdSqjf38pblAo\"",
    "mtime": "2026-11-26T23:27:13.964Z",
    "size": 1623,
    "path": "../public/assets/NewDatastorePage-QzO2XxjF.js.gz"
  },
  "/assets/NewEnvironmentDialog-BmlSKTSz.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"2ab-xwplY65Y4n4J7Ni6Bz7y0mx68G0\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 683,
    "path": "../public/assets/NewEnvironmentDialog-BmlSKTSz.js"
  },
  "/assets/NewServicePage-DnjK38Ua.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"3e72-irTxFj2DqJRMl3rfboIqBwQpq5Y\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 15986,
    "path": "../public/assets/NewServicePage-DnjK38Ua.js"
  },
  "/assets/NewServicePage-DnjK38Ua.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"15c4-pJj5Bs5XNNRLGYh75/XuzEqP9Ok\"",
    "mtime": "2026-11-26T23:27:14.180Z",
    "size": 5572,
    "path": "../public/assets/NewServicePage-DnjK38Ua.js.br"
  },
  "/assets/NewServicePage-DnjK38Ua.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"1898-pfdmsmihSbnAwPs0CxVexRiDpVQ\"",
    "mtime": "2026-11-26T23:27:13.840Z",
    "size": 6296,
    "path": "../public/assets/NewServicePage-DnjK38Ua.js.gz"
  },
  "/assets/NextRun-2vrUFxjP.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"8ae-fyql+Wdq0E38/+yuH7IA1WtIitM\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 2222,
    "path": "../public/assets/NextRun-2vrUFxjP.js"
  },
  "/assets/NextRun-2vrUFxjP.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"474-TkUlt8tq2ociqvn5TvLuSeapY58\"",
    "mtime": "2026-11-26T23:27:13.840Z",
    "size": 1140,
    "path": "../public/assets/NextRun-2vrUFxjP.js.br"
  },
  "/assets/NextRun-2vrUFxjP.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"4de-ZIufVDACT+eQ6519oT8EUrTNtvc\"",
    "mtime": "2026-11-26T23:27:13.840Z",
    "size": 1246,
    "path": "../public/assets/NextRun-2vrUFxjP.js.gz"
  },
  "/assets/NextSteps-CTqVk1lh.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"65c-JQVG0Rq6ddRT7/JlVnQPVHIW/UA\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 1628,
    "path": "../public/assets/NextSteps-CTqVk1lh.js"
  },
  "/assets/NextSteps-CTqVk1lh.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2fd-qzHC1SvLhVtea4U4ScfLuD5n2Tk\"",
    "mtime": "2026-11-26T23:27:14.064Z",
    "size": 765,
    "path": "../public/assets/NextSteps-CTqVk1lh.js.br"
  },
  "/assets/NextSteps-CTqVk1lh.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"350-USLz3DOz9247rU2ZUHJRKR383XU\"",
    "mtime": "2026-11-26T23:27:13.964Z",
    "size": 848,
    "path": "../public/assets/NextSteps-CTqVk1lh.js.gz"
  },
  "/assets/NotFoundPage-4Tdf5sLr.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"251-Ueq1ETLKAsNtbZfsU+UCIvrRQ6k\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 593,
    "path": "../public/assets/NotFoundPage-4Tdf5sLr.js"
  },
  "/assets/NotificationsPage-CtbT_MZ_.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"5533-icZrLtBNtQX6C4Mklzg9cTG3fVA\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 21811,
    "path": "../public/assets/NotificationsPage-CtbT_MZ_.js"
  },
  "/assets/NotificationsPage-CtbT_MZ_.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"17e5-er4fbJCawi1q8Euf/FLps8J6bbc\"",
    "mtime": "2026-11-26T23:27:14.376Z",
    "size": 6117,
    "path": "../public/assets/NotificationsPage-CtbT_MZ_.js.br"
  },
  "/assets/NotificationsPage-CtbT_MZ_.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"1b53-tSyt9cQM6gTHS19bWn+AyrliEvw\"",
    "mtime": "2026-11-26T23:27:14.064Z",
    "size": 6995,
    "path": "../public/assets/NotificationsPage-CtbT_MZ_.js.gz"
  },
  "/assets/OpenFrame-C9v-EWbE.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"301-Rs+uU6tbUik9/t24FdcyJq+9QVg\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 769,
    "path": "../public/assets/OpenFrame-C9v-EWbE.js"
  },
  "/assets/PlanView-Ch5TvSWZ.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"a4b-+meofemGa2pMNlB4rDWaBS8OWgQ\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 2635,
    "path": "../public/assets/PlanView-Ch5TvSWZ.js"
  },
  "/assets/PlanView-Ch5TvSWZ.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"489-vDR7cELhdoaMc3w4lUJM9A3e4tw\"",
    "mtime": "2026-11-26T23:27:14.180Z",
    "size": 1161,
    "path": "../public/assets/PlanView-Ch5TvSWZ.js.br"
  },
  "/assets/PlanView-Ch5TvSWZ.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"50c-I4ub7oQNru52WGThsFoO+qzxKo4\"",
    "mtime": "2026-11-26T23:27:14.180Z",
    "size": 1292,
    "path": "../public/assets/PlanView-Ch5TvSWZ.js.gz"
  },
  "/assets/ProgressBar-B96lkYw3.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2290-xYEY1GtCqld5r6X1Um6Xa4wQobY\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 8848,
    "path": "../public/assets/ProgressBar-B96lkYw3.js"
  },
  "/assets/ProgressBar-B96lkYw3.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"e3c-3JII83DUkLb7DoICAg/4lXyzmdQ\"",
    "mtime": "2026-11-26T23:27:14.232Z",
    "size": 3644,
    "path": "../public/assets/ProgressBar-B96lkYw3.js.br"
  },
  "/assets/ProgressBar-B96lkYw3.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"fcf-lGCbNPbRQuDY+3aibgSGxgmbjKc\"",
    "mtime": "2026-11-26T23:27:14.180Z",
    "size": 4047,
    "path": "../public/assets/ProgressBar-B96lkYw3.js.gz"
  },
  "/assets/RecordTable-Br6PmH0u.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"e91-nWu+ctxZ2r9Vx1pOa1r3tz9jP94\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 3729,
    "path": "../public/assets/RecordTable-Br6PmH0u.js"
  },
  "/assets/RecordTable-Br6PmH0u.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"544-5iw8kERVxb5BDvjsdWkd3TQgy0I\"",
    "mtime": "2026-11-26T23:27:14.328Z",
    "size": 1348,
    "path": "../public/assets/RecordTable-Br6PmH0u.js.br"
  },
  "/assets/RecordTable-Br6PmH0u.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"5f0-arIQGPHqhoTysOG5GKylMKukggM\"",
    "mtime": "2026-11-26T23:27:14.212Z",
    "size": 1520,
    "path": "../public/assets/RecordTable-Br6PmH0u.js.gz"
  },
  "/assets/ReferenceList-Dv2j6o1F.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"302-DaqteJwsNTcMW6ipVU97T7royps\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 770,
    "path": "../public/assets/ReferenceList-Dv2j6o1F.js"
  },
  "/assets/RegisterPage-Bu8pfoS5.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"b1a-gtBS4kLYiYRCIBgK3hA3soe7m6w\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 2842,
    "path": "../public/assets/RegisterPage-Bu8pfoS5.js"
  },
  "/assets/RegisterPage-Bu8pfoS5.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"4e3-dFIepLXEFQBSz9NGxsyOK9Bkvtw\"",
    "mtime": "2026-11-26T23:27:14.376Z",
    "size": 1251,
    "path": "../public/assets/RegisterPage-Bu8pfoS5.js.br"
  },
  "/assets/RegisterPage-Bu8pfoS5.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"5c2-XPb+dODhoW6TVhN40lDoHsC9ojE\"",
    "mtime": "2026-11-26T23:27:14.336Z",
    "size": 1474,
    "path": "../public/assets/RegisterPage-Bu8pfoS5.js.gz"
  },
  "/assets/RepositoryField-CnktwDJu.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"3f31-jNuk2E8cMT6bkwfCPM+XTFsqlIA\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 16177,
    "path": "../public/assets/RepositoryField-CnktwDJu.js"
  },
  "/assets/RepositoryField-CnktwDJu.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"1330-JCtMmBdov6j9oivGD8cKcZ1u5/4\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 4912,
    "path": "../public/assets/RepositoryField-CnktwDJu.js.br"
  },
  "/assets/RepositoryField-CnktwDJu.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"1597-JotbZSTHR99bbR7WnMi05Cuh1XY\"",
    "mtime": "2026-11-26T23:27:14.376Z",
    "size": 5527,
    "path": "../public/assets/RepositoryField-CnktwDJu.js.gz"
  },
  "/assets/RequestCharts-WARmmhbU.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"577a-/vvc+zXAtROutM2L4nA5JG5eybU\"",
    "mtime": "2026-11-26T23:27:15.816Z",
    "size": 22394,
    "path": "../public/assets/RequestCharts-WARmmhbU.js.br"
  },
  "/assets/RequestCharts-WARmmhbU.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"6139-Jna9P+HJ77uw1zItVgS8TVEbi30\"",
    "mtime": "2026-11-26T23:27:14.384Z",
    "size": 24889,
    "path": "../public/assets/RequestCharts-WARmmhbU.js.gz"
  },
  "/assets/RequestCharts-qi2fyQe9.css": {
    "type": "text/css; charset=utf-8",
    "encoding": null,
    "etag": "\"759-x2UySzahq29gCJWENiflxm2juyM\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1881,
    "path": "../public/assets/RequestCharts-qi2fyQe9.css"
  },
  "/assets/RequestCharts-qi2fyQe9.css.br": {
    "type": "text/css; charset=utf-8",
    "encoding": "br",
    "etag": "\"286-MJcc53v5dII3P2TyHI51IzO7k5w\"",
    "mtime": "2026-11-26T23:27:14.384Z",
    "size": 646,
    "path": "../public/assets/RequestCharts-qi2fyQe9.css.br"
  },
  "/assets/RequestCharts-WARmmhbU.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"ded9-iUgcmoXMhIfm/cpbHH5u+wb+z6k\"",
    "mtime": "2026-11-26T23:27:12.636Z",
    "size": 57049,
    "path": "../public/assets/RequestCharts-WARmmhbU.js"
  },
  "/assets/RequestCharts-qi2fyQe9.css.gz": {
    "type": "text/css; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"325-Qro4zw2JKWvKR4AZUKmmm1ZP+A8\"",
    "mtime": "2026-11-26T23:27:14.384Z",
    "size": 805,
    "path": "../public/assets/RequestCharts-qi2fyQe9.css.gz"
  },
  "/assets/RollbackDialog-CsJvT2hB.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"7cd-E/7rnTOFZRj8J1/6Qex248NowJA\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1997,
    "path": "../public/assets/RollbackDialog-CsJvT2hB.js"
  },
  "/assets/RollbackDialog-CsJvT2hB.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"3dd-FIIDAlDVNEVTqAQoxhkYdoaIcvk\"",
    "mtime": "2026-11-26T23:27:14.384Z",
    "size": 989,
    "path": "../public/assets/RollbackDialog-CsJvT2hB.js.br"
  },
  "/assets/RollbackDialog-CsJvT2hB.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"482-9nHJLXRR2237t+prNEArz5FN8cI\"",
    "mtime": "2026-11-26T23:27:14.384Z",
    "size": 1154,
    "path": "../public/assets/RollbackDialog-CsJvT2hB.js.gz"
  },
  "/assets/RunNowButton-DwcJP4Ra.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"393-J5dE4Z2nAj9K5rEjK1lQ568CBPw\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 915,
    "path": "../public/assets/RunNowButton-DwcJP4Ra.js"
  },
  "/assets/ScheduleField-DcFqIa1O.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"3ac-vCFZwNa36SSEQjVPGQylFXvtPdI\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 940,
    "path": "../public/assets/ScheduleField-DcFqIa1O.js"
  },
  "/assets/ServerLog-R589NBeM.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"5aa-raFqvoMUn4DL8SfhZHOnECOnLOg\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1450,
    "path": "../public/assets/ServerLog-R589NBeM.js"
  },
  "/assets/ServerLog-R589NBeM.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2de-jR1LcTTzp2CoceuMilETXuuCzlI\"",
    "mtime": "2026-11-26T23:27:14.476Z",
    "size": 734,
    "path": "../public/assets/ServerLog-R589NBeM.js.br"
  },
  "/assets/ServerLog-R589NBeM.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"347-CJI/4AeSWgIroBLKoWXTpgA6XWc\"",
    "mtime": "2026-11-26T23:27:14.476Z",
    "size": 839,
    "path": "../public/assets/ServerLog-R589NBeM.js.gz"
  },
  "/assets/ServerMetrics-C82sdqYc.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"18a7-BV24CPUhS6XeRnahO6a2/K4MQvA\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 6311,
    "path": "../public/assets/ServerMetrics-C82sdqYc.js"
  },
  "/assets/ServerMetrics-C82sdqYc.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"808-svnqI7Y1pMlQ2X4yq843VNJ5PAw\"",
    "mtime": "2026-11-26T23:27:14.536Z",
    "size": 2056,
    "path": "../public/assets/ServerMetrics-C82sdqYc.js.br"
  },
  "/assets/ServerMetrics-C82sdqYc.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"907-cJyRt0aUglMFauffx2be/c8xfMY\"",
    "mtime": "2026-11-26T23:27:14.536Z",
    "size": 2311,
    "path": "../public/assets/ServerMetrics-C82sdqYc.js.gz"
  },
  "/assets/ServerMetrics-Cf9aJ-_m.css": {
    "type": "text/css; charset=utf-8",
    "etag": "\"1bd-pXclFXmwEB1SwHfBu4g6BysbK3U\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 445,
    "path": "../public/assets/ServerMetrics-Cf9aJ-_m.css"
  },
  "/assets/ServerPage-LJbCZJMJ.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"8cd-S2Ny4WFslQYHAKEfC4DS5ZxHUYs\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 2253,
    "path": "../public/assets/ServerPage-LJbCZJMJ.js"
  },
  "/assets/ServerPage-LJbCZJMJ.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"3d9-qBx7BY/1qCaZD45sw4d7eF2zpWQ\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 985,
    "path": "../public/assets/ServerPage-LJbCZJMJ.js.br"
  },
  "/assets/ServerPage-LJbCZJMJ.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"43d-6VU/fgpYq1VVdQQqQlGEn2IYOsM\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 1085,
    "path": "../public/assets/ServerPage-LJbCZJMJ.js.gz"
  },
  "/assets/ServiceDeploys-Ao2Kyw87.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"dd8-K+Wyba+0B4RCD2Sl3+VOQ9Kfols\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 3544,
    "path": "../public/assets/ServiceDeploys-Ao2Kyw87.js"
  },
  "/assets/ServiceDeploys-Ao2Kyw87.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"637-vZ3zcdgzt9sLdC8jmiErscom7Gw\"",
    "mtime": "2026-11-26T23:27:14.712Z",
    "size": 1591,
    "path": "../public/assets/ServiceDeploys-Ao2Kyw87.js.br"
  },
  "/assets/ServiceDeploys-Ao2Kyw87.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"6e0-lVJDSIQEq74qqjOlYwt8fmGzsuw\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 1760,
    "path": "../public/assets/ServiceDeploys-Ao2Kyw87.js.gz"
  },
  "/assets/ServiceLogs-D1IEtVnF.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"5be-OchlBwTeCMnAeKaNc3A3F2BI//c\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1470,
    "path": "../public/assets/ServiceLogs-D1IEtVnF.js"
  },
  "/assets/ServiceLogs-D1IEtVnF.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2bc-WEeCoWyDdjbk5e2+HdFoNDm7Keo\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 700,
    "path": "../public/assets/ServiceLogs-D1IEtVnF.js.br"
  },
  "/assets/ServiceLogs-D1IEtVnF.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"31a-UFg4sNvEETbTem+bnlTBp7LsWPE\"",
    "mtime": "2026-11-26T23:27:14.680Z",
    "size": 794,
    "path": "../public/assets/ServiceLogs-D1IEtVnF.js.gz"
  },
  "/assets/ServiceMetrics-D4NYDTs2.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"d15-kj1uNfB1Id2920BsVMYgCAzO+Co\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 3349,
    "path": "../public/assets/ServiceMetrics-D4NYDTs2.js"
  },
  "/assets/ServiceMetrics-D4NYDTs2.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"5df-ZGDmrp4LkzdE+a7WN+3cTZoelaU\"",
    "mtime": "2026-11-26T23:27:14.684Z",
    "size": 1503,
    "path": "../public/assets/ServiceMetrics-D4NYDTs2.js.br"
  },
  "/assets/ServiceMetrics-D4NYDTs2.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"678-mga/ATQnCG1wBfTC19tuzur53mc\"",
    "mtime": "2026-11-26T23:27:14.684Z",
    "size": 1656,
    "path": "../public/assets/ServiceMetrics-D4NYDTs2.js.gz"
  },
  "/assets/ServiceOverview-vSoxq8qq.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2e83-yrxsBUPZkWLmeW8kXurm4gBBhtI\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 11907,
    "path": "../public/assets/ServiceOverview-vSoxq8qq.js"
  },
  "/assets/ServiceOverview-vSoxq8qq.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"f12-3Wrvi8fdUVCNYSyeXCcNfriZO6s\"",
    "mtime": "2026-11-26T23:27:14.872Z",
    "size": 3858,
    "path": "../public/assets/ServiceOverview-vSoxq8qq.js.br"
  },
  "/assets/ServiceOverview-vSoxq8qq.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"10e2-+bB+oyNwxv+wdUgGS70OHmTq3LE\"",
    "mtime": "2026-11-26T23:27:14.708Z",
    "size": 4322,
    "path": "../public/assets/ServiceOverview-vSoxq8qq.js.gz"
  },
  "/assets/ServicePage-Cq7rcD32.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2216-FSJHrLZhfEHheyDX167P1aRovcM\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 8726,
    "path": "../public/assets/ServicePage-Cq7rcD32.js"
  },
  "/assets/ServicePage-Cq7rcD32.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"cff-+Wdvuf0+4chNYItJjLrk9JDXDdY\"",
    "mtime": "2026-11-26T23:27:15.080Z",
    "size": 3327,
    "path": "../public/assets/ServicePage-Cq7rcD32.js.br"
  },
  "/assets/ServicePage-Cq7rcD32.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"e87-MQ92fnBDTYoh8R9l3pH+JeGjEPE\"",
    "mtime": "2026-11-26T23:27:14.788Z",
    "size": 3719,
    "path": "../public/assets/ServicePage-Cq7rcD32.js.gz"
  },
  "/assets/ServiceRuns-B6a8k_jM.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1722-JAEC01fIOi9lMX0kWbYF9EpTET8\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 5922,
    "path": "../public/assets/ServiceRuns-B6a8k_jM.js"
  },
  "/assets/ServiceRuns-B6a8k_jM.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"97c-T3nWZ8SGXRe1rarSU+iXJR8SCmY\"",
    "mtime": "2026-11-26T23:27:15.080Z",
    "size": 2428,
    "path": "../public/assets/ServiceRuns-B6a8k_jM.js.br"
  },
  "/assets/ServiceRuns-B6a8k_jM.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"aa2-I9RhoqkvO3WRJSN5RZdWBI3TyBM\"",
    "mtime": "2026-11-26T23:27:14.872Z",
    "size": 2722,
    "path": "../public/assets/ServiceRuns-B6a8k_jM.js.gz"
  },
  "/assets/ServiceSettings-BuO16wsr.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"3a8e-maOgJdV9VxNYFGQks20FO1r5XXc\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 14990,
    "path": "../public/assets/ServiceSettings-BuO16wsr.js"
  },
  "/assets/ServiceSettings-BuO16wsr.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"1410-2C3YReoznDMlxRiogd2iyGc1M2Q\"",
    "mtime": "2026-11-26T23:27:15.240Z",
    "size": 5136,
    "path": "../public/assets/ServiceSettings-BuO16wsr.js.br"
  },
  "/assets/ServiceSettings-BuO16wsr.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"16b1-CEaNA17iS5vQCLWLPjLlMd6vPYc\"",
    "mtime": "2026-11-26T23:27:15.080Z",
    "size": 5809,
    "path": "../public/assets/ServiceSettings-BuO16wsr.js.gz"
  },
  "/assets/ServiceVariables-DAkBd2Ij.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"1c36-pZvoTwf6ssLZDrCVMBkwRv66fVQ\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 7222,
    "path": "../public/assets/ServiceVariables-DAkBd2Ij.js"
  },
  "/assets/ServiceVariables-DAkBd2Ij.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"ae1-4+LsZpEQvYY9wB/0ODFgFI2I+HA\"",
    "mtime": "2026-11-26T23:27:15.140Z",
    "size": 2785,
    "path": "../public/assets/ServiceVariables-DAkBd2Ij.js.br"
  },
  "/assets/ServiceVariables-DAkBd2Ij.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"c2a-jmDINDgUxk0JrugA2+b1k1l4Gus\"",
    "mtime": "2026-11-26T23:27:15.080Z",
    "size": 3114,
    "path": "../public/assets/ServiceVariables-DAkBd2Ij.js.gz"
  },
  "/assets/ServicesPage-Dz_YtZO7.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"2307-rYfrIhctLCo7ySJZ+UDlm7WYE1A\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 8967,
    "path": "../public/assets/ServicesPage-Dz_YtZO7.js"
  },
  "/assets/ServicesPage-Dz_YtZO7.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"da7-0DPnm2WKZB/xaqAdwS5zkkkB0FE\"",
    "mtime": "2026-11-26T23:27:15.360Z",
    "size": 3495,
    "path": "../public/assets/ServicesPage-Dz_YtZO7.js.br"
  },
  "/assets/ServicesPage-Dz_YtZO7.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"f0c-UdeQiug4D4MVzKxMf+3MjWg7k1U\"",
    "mtime": "2026-11-26T23:27:15.080Z",
    "size": 3852,
    "path": "../public/assets/ServicesPage-Dz_YtZO7.js.gz"
  },
  "/assets/SessionDialog-nGrjTTgR.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"65e-8rUW89qQTZ6WrITcvRL1ithTvoY\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1630,
    "path": "../public/assets/SessionDialog-nGrjTTgR.js"
  },
  "/assets/SessionDialog-nGrjTTgR.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"31e-PHgoJkihxRJw3fXy41H+5vY2qko\"",
    "mtime": "2026-11-26T23:27:15.140Z",
    "size": 798,
    "path": "../public/assets/SessionDialog-nGrjTTgR.js.br"
  },
  "/assets/SessionDialog-nGrjTTgR.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"3a9-r+2I3Hj1Lz+j1pgKzoYo96aSJ20\"",
    "mtime": "2026-11-26T23:27:15.140Z",
    "size": 937,
    "path": "../public/assets/SessionDialog-nGrjTTgR.js.gz"
  },
  "/assets/SettingsCard-Dtmf6tDS.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"3f5-gBkZXeeNL1QlxqrpscQYFWIO9tM\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1013,
    "path": "../public/assets/SettingsCard-Dtmf6tDS.js"
  },
  "/assets/SetupPage-Ci_Wp9fm.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"940-/r0i40ye7TbdZv2wc9D0C2YfivU\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 2368,
    "path": "../public/assets/SetupPage-Ci_Wp9fm.js"
  },
  "/assets/SetupPage-Ci_Wp9fm.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"41e-SfGTgeB4m8bh8efie/Ypw1L3aGI\"",
    "mtime": "2026-11-26T23:27:15.240Z",
    "size": 1054,
    "path": "../public/assets/SetupPage-Ci_Wp9fm.js.br"
  },
  "/assets/SetupPage-Ci_Wp9fm.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"4c6-F30ouNghALOfhQxIPJP5iRQ0Q+I\"",
    "mtime": "2026-11-26T23:27:15.240Z",
    "size": 1222,
    "path": "../public/assets/SetupPage-Ci_Wp9fm.js.gz"
  },
  "/assets/SignInPage-CunCHuhu.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"6c0-XvCx7+3UOSwvvDsfYEVV77XOFAg\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1728,
    "path": "../public/assets/SignInPage-CunCHuhu.js"
  },
  "/assets/SignInPage-CunCHuhu.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"350-OZer4oyXjAJ6vgFMidKeAJkcsiQ\"",
    "mtime": "2026-11-26T23:27:15.240Z",
    "size": 848,
    "path": "../public/assets/SignInPage-CunCHuhu.js.br"
  },
  "/assets/SignInPage-CunCHuhu.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"3cd-1X0cSjAiq8nC+6HebJO7Tgg6Mbk\"",
    "mtime": "2026-11-26T23:27:15.240Z",
    "size": 973,
    "path": "../public/assets/SignInPage-CunCHuhu.js.gz"
  },
  "/assets/TabLinks-C8tlC9xS.css": {
    "type": "text/css; charset=utf-8",
    "etag": "\"16f-7faIqqqXQGq2A9g21sjVTty1VCo\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 367,
    "path": "../public/assets/TabLinks-C8tlC9xS.css"
  },
  "/assets/TabLinks-DsUouRLk.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"69d-RCdZREiqDTe09sZee7nAJ9WPsaE\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1693,
    "path": "../public/assets/TabLinks-DsUouRLk.js"
  },
  "/assets/TabLinks-DsUouRLk.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"37e-7QwEFRN16/URRFZuLaM7pcsRTks\"",
    "mtime": "2026-11-26T23:27:15.248Z",
    "size": 894,
    "path": "../public/assets/TabLinks-DsUouRLk.js.br"
  },
  "/assets/TabLinks-DsUouRLk.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"3eb-vMhGPzTgU/9YOvhXecqeV6SLGwQ\"",
    "mtime": "2026-11-26T23:27:15.248Z",
    "size": 1003,
    "path": "../public/assets/TabLinks-DsUouRLk.js.gz"
  },
  "/assets/TerminalExample-BTWLUflW.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"238-my+E9r4zKah/1fd7hrq2dRh+6eg\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 568,
    "path": "../public/assets/TerminalExample-BTWLUflW.js"
  },
  "/assets/VariableEditor-jWJS5fFP.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"37ac-VJwM3ySDMZl+4CLRdAcG0iCi5lw\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 14252,
    "path": "../public/assets/VariableEditor-jWJS5fFP.js"
  },
  "/assets/VariableEditor-jWJS5fFP.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"14f2-XZYahJyzJiY2kqIjMvaQr+PwsCs\"",
    "mtime": "2026-11-26T23:27:15.396Z",
    "size": 5362,
    "path": "../public/assets/VariableEditor-jWJS5fFP.js.br"
  },
  "/assets/VariableEditor-jWJS5fFP.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"16fe-ca/MYmBpGJAS0d0leFZsjk25DG4\"",
    "mtime": "2026-11-26T23:27:15.248Z",
    "size": 5886,
    "path": "../public/assets/VariableEditor-jWJS5fFP.js.gz"
  },
  "/assets/WebhookSteps-Cph5XixT.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"76d-OmDZ8qxAH9eu3NaB2TkdEFde6Xc\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 1901,
    "path": "../public/assets/WebhookSteps-Cph5XixT.js"
  },
  "/assets/WebhookSteps-Cph5XixT.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"343-V6NkJtf9pcERUDO7+LY74Tgzvuw\"",
    "mtime": "2026-11-26T23:27:15.248Z",
    "size": 835,
    "path": "../public/assets/WebhookSteps-Cph5XixT.js.br"
  },
  "/assets/WebhookSteps-Cph5XixT.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"3c9-5JJNNCfwMd4NR8qFjed5++AiNT4\"",
    "mtime": "2026-11-26T23:27:15.248Z",
    "size": 969,
    "path": "../public/assets/WebhookSteps-Cph5XixT.js.gz"
  },
  "/assets/_plugin-vue_export-helper-BDNMzG2s.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"54-MasMfSk/A98C3Gn9uIOxtFxkWNw\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 84,
    "path": "../public/assets/_plugin-vue_export-helper-BDNMzG2s.js"
  },
  "/assets/address-CLY6wASn.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"c1-rXiLKp25TfnNRlITyAUGoqFueNE\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 193,
    "path": "../public/assets/address-CLY6wASn.js"
  },
  "/assets/address-D5ylik_Y.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"184-GPIALXbD+mtxSJ+tcAXybNCAtAw\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 388,
    "path": "../public/assets/address-D5ylik_Y.js"
  },
  "/assets/archive-BT7d5My6.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"f0-lCtcTeLim0N/brTkuUlxK9Lxdi0\"",
    "mtime": "2026-11-26T23:27:12.637Z",
    "size": 240,
    "path": "../public/assets/archive-BT7d5My6.js"
  },
  "/assets/ban-DGu5uRl8.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"a8-HgUGCS5yeqHF+wT3bzrpKrqVrGY\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 168,
    "path": "../public/assets/ban-DGu5uRl8.js"
  },
  "/assets/current-Br523Ulc.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"17f-Lc3/Egdep99CQyjU1yS9TGvdvKI\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 383,
    "path": "../public/assets/current-Br523Ulc.js"
  },
  "/assets/default-limits-rXHozXTp.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"d7-JR8qSS3iWzqQYy7RSZbGp1WEksQ\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 215,
    "path": "../public/assets/default-limits-rXHozXTp.js"
  },
  "/assets/draft-DxQb-FzX.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"ca1-Th6tpusTqsrgLZbOzMKVNaehvVo\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 3233,
    "path": "../public/assets/draft-DxQb-FzX.js"
  },
  "/assets/draft-DxQb-FzX.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"584-TThJRDMS87SvnK/R65fzgCTxMZ4\"",
    "mtime": "2026-11-26T23:27:15.452Z",
    "size": 1412,
    "path": "../public/assets/draft-DxQb-FzX.js.br"
  },
  "/assets/draft-DxQb-FzX.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"610-IXLm4tL24L+6ukF38ej0+esuMBs\"",
    "mtime": "2026-11-26T23:27:15.396Z",
    "size": 1552,
    "path": "../public/assets/draft-DxQb-FzX.js.gz"
  },
  "/assets/editor-BFF6niYf.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"64069-G9+9mFHT6xJtUQB9sRX8GoOLCyo\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 409705,
    "path": "../public/assets/editor-BFF6niYf.js"
  },
  "/assets/editor-BFF6niYf.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"1b920-fSLt+AsL54kLE9ZmgFffoUprFxs\"",
    "mtime": "2026-11-26T23:27:19.968Z",
    "size": 112928,
    "path": "../public/assets/editor-BFF6niYf.js.br"
  },
  "/assets/editor-BFF6niYf.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"20469-4gTGg9mhGNeUCH7vItXetoGXAJY\"",
    "mtime": "2026-11-26T23:27:16.336Z",
    "size": 132201,
    "path": "../public/assets/editor-BFF6niYf.js.gz"
  },
  "/assets/faults-CrBvIw2C.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"18d-uGYXqIymEp6rM/9E5+IdIqlexsE\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 397,
    "path": "../public/assets/faults-CrBvIw2C.js"
  },
  "/assets/favicon-GPQQ-Mih.svg": {
    "type": "image/svg+xml",
    "etag": "\"a7-MzFjR1Z+F8fmgubb129TOpitQDI\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 167,
    "path": "../public/assets/favicon-GPQQ-Mih.svg"
  },
  "/assets/forced-deletion-CrPOAeTY.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"168-RMBqxSYMzloaxgi3dBSTM7OM/t0\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 360,
    "path": "../public/assets/forced-deletion-CrPOAeTY.js"
  },
  "/assets/head-CWZW12ch.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"642-Xt60tgB+PEJ4jAaKoWMuStaYHkE\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 1602,
    "path": "../public/assets/head-CWZW12ch.js"
  },
  "/assets/head-CWZW12ch.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"24b-AhEDXnacaks4NHO2GYgTitpnxLI\"",
    "mtime": "2026-11-26T23:27:15.808Z",
    "size": 587,
    "path": "../public/assets/head-CWZW12ch.js.br"
  },
  "/assets/head-CWZW12ch.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"2e1-RxTYrZpupwy+SLptrhdW9RknkGU\"",
    "mtime": "2026-11-26T23:27:15.808Z",
    "size": 737,
    "path": "../public/assets/head-CWZW12ch.js.gz"
  },
  "/assets/index-BqvC9SFl.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"100b2-/lJbljL+H2r6Jwezc2bhe3el5pw\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 65714,
    "path": "../public/assets/index-BqvC9SFl.js"
  },
  "/assets/index-BqvC9SFl.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"4daa-IsUlg9f51HEevTsC2EDQOgd5nt8\"",
    "mtime": "2026-11-26T23:27:16.568Z",
    "size": 19882,
    "path": "../public/assets/index-BqvC9SFl.js.br"
  },
  "/assets/index-BqvC9SFl.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"597d-UvMSAt2mLfNk1lUW17k4wv2ILfU\"",
    "mtime": "2026-11-26T23:27:15.816Z",
    "size": 22909,
    "path": "../public/assets/index-BqvC9SFl.js.gz"
  },
  "/assets/index-DninQYV9.css": {
    "type": "text/css; charset=utf-8",
    "encoding": null,
    "etag": "\"a43f-K5PbMaldvH05HJnBokZvtPdSb3s\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 42047,
    "path": "../public/assets/index-DninQYV9.css"
  },
  "/assets/index-DninQYV9.css.br": {
    "type": "text/css; charset=utf-8",
    "encoding": "br",
    "etag": "\"1e66-z7tcz+DONnzUTFZK3GSt+Wr5Exs\"",
    "mtime": "2026-11-26T23:27:16.336Z",
    "size": 7782,
    "path": "../public/assets/index-DninQYV9.css.br"
  },
  "/assets/index-DninQYV9.css.gz": {
    "type": "text/css; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"22df-E+RUOsncN1KvjUxeZ7xBvHwOQ/I\"",
    "mtime": "2026-11-26T23:27:15.808Z",
    "size": 8927,
    "path": "../public/assets/index-DninQYV9.css.gz"
  },
  "/assets/inter-latin-wght-normal-Dx4kXJAl.woff2": {
    "type": "font/woff2",
    "etag": "\"bc80-8R1ym7Ck2DUNLqPQ/AYs9u8tUpg\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 48256,
    "path": "../public/assets/inter-latin-wght-normal-Dx4kXJAl.woff2"
  },
  "/assets/inter-latin-ext-wght-normal-DO1Apj_S.woff2": {
    "type": "font/woff2",
    "etag": "\"14c4c-zz61D7IQFMB9QxHvTAOk/Vh4ibQ\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 85068,
    "path": "../public/assets/inter-latin-ext-wght-normal-DO1Apj_S.woff2"
  },
  "/assets/jetbrains-mono-latin-wght-normal-B9CIFXIH.woff2": {
    "type": "font/woff2",
    "etag": "\"9dd4-5yd+cUUhzrXxdMyYebUeD0qml1M\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 40404,
    "path": "../public/assets/jetbrains-mono-latin-wght-normal-B9CIFXIH.woff2"
  },
  "/assets/kind-BwL_mx0w.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"175-YymTadMOLjLpv4SWnS9WCeUfI4Y\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 373,
    "path": "../public/assets/kind-BwL_mx0w.js"
  },
  "/assets/lifetimes-CYBcm2eG.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"103-IFL7DG7JUCZiinV+ieMoTrZdAyY\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 259,
    "path": "../public/assets/lifetimes-CYBcm2eG.js"
  },
  "/assets/live-DzxLFJi4.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"243-+XQjZT1PxeRz3NFlbJUDI9HkM84\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 579,
    "path": "../public/assets/live-DzxLFJi4.js"
  },
  "/assets/merge-qiRUdFUR.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1eb-8OnjY78TGwcHCnaCaK7K/nDMBCI\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 491,
    "path": "../public/assets/merge-qiRUdFUR.js"
  },
  "/assets/next-step-DOxxCgxx.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1be-fzcBytEHacJP84DtmZZBPqqoaVE\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 446,
    "path": "../public/assets/next-step-DOxxCgxx.js"
  },
  "/assets/older-Du7SnR7Y.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1c4-7Pv9usLGHFsUBVgiwtiyX/MmCTU\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 452,
    "path": "../public/assets/older-Du7SnR7Y.js"
  },
  "/assets/problems-CE_1II_0.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"27e-T8DZjNoZNG/4FhGBdO87m481PjM\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 638,
    "path": "../public/assets/problems-CE_1II_0.js"
  },
  "/assets/provider-DfILXPp1.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"178-OkIJuUpeDU2DpUaJ4yH1azt1/3Y\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 376,
    "path": "../public/assets/provider-DfILXPp1.js"
  },
  "/assets/pushes-BGaxszNg.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"2a2-48iZ+Ua0PE3NYjXRrf6KDNsNQp4\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 674,
    "path": "../public/assets/pushes-BGaxszNg.js"
  },
  "/assets/refresh-cw-DI9A7QF1.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"134-mWmlt8N6GuC78vBTn+j9K5JR0Cc\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 308,
    "path": "../public/assets/refresh-cw-DI9A7QF1.js"
  },
  "/assets/settings-GM_AxI0B.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"26a-/WSZyMsavx8xmdJbS2eKtJVUaPI\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 618,
    "path": "../public/assets/settings-GM_AxI0B.js"
  },
  "/assets/start-C2eiDtYs.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1ac-62KhIXxGRilZVlhcbw+8Tt04030\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 428,
    "path": "../public/assets/start-C2eiDtYs.js"
  },
  "/assets/state-CvoqQ6Z0.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"942-nkniJmSuD5PVqrPDqvB0VnfqE1U\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 2370,
    "path": "../public/assets/state-CvoqQ6Z0.js"
  },
  "/assets/state-CvoqQ6Z0.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2f0-7ryvXjnXzg1RugdQNxlMCY8Ho+0\"",
    "mtime": "2026-11-26T23:27:15.832Z",
    "size": 752,
    "path": "../public/assets/state-CvoqQ6Z0.js.br"
  },
  "/assets/state-CvoqQ6Z0.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"35f-Sv9kjbzk6gsjtac3E/UQ9wlTQ88\"",
    "mtime": "2026-11-26T23:27:15.832Z",
    "size": 863,
    "path": "../public/assets/state-CvoqQ6Z0.js.gz"
  },
  "/assets/status-C4k6E92H.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"660-GD69HzaJyiVr3Uper7Ns3JBsCT8\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 1632,
    "path": "../public/assets/status-C4k6E92H.js"
  },
  "/assets/status-C4k6E92H.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"280-RnTzO41cuWgHW2SPA8+8BeeQjfk\"",
    "mtime": "2026-11-26T23:27:16.168Z",
    "size": 640,
    "path": "../public/assets/status-C4k6E92H.js.br"
  },
  "/assets/status-C4k6E92H.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"309-jRMtZEUGskB4f8QZVnn5J7xNQJs\"",
    "mtime": "2026-11-26T23:27:16.168Z",
    "size": 777,
    "path": "../public/assets/status-C4k6E92H.js.gz"
  },
  "/assets/status-Da8CUD0J.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"4c5-TMLVlKRVxHpqK3Uz6E5BRcHJW3M\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 1221,
    "path": "../public/assets/status-Da8CUD0J.js"
  },
  "/assets/status-Da8CUD0J.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"1f2-0E3fgVfIK6g0jbUWlScESfClBdw\"",
    "mtime": "2026-11-26T23:27:16.168Z",
    "size": 498,
    "path": "../public/assets/status-Da8CUD0J.js.br"
  },
  "/assets/status-Da8CUD0J.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"249-W1UYMTMrCGPh2D/p6lGzFxDUXMg\"",
    "mtime": "2026-11-26T23:27:16.168Z",
    "size": 585,
    "path": "../public/assets/status-Da8CUD0J.js.gz"
  },
  "/assets/status-DgntaR2x.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1e3-oMoZse1KPC982r4VyBdiFeeAb6g\"",
    "mtime": "2026-11-26T23:27:12.638Z",
    "size": 483,
    "path": "../public/assets/status-DgntaR2x.js"
  },
  "/assets/suggest-name-CqCeaUyf.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"148-7lFuaNbhs5TUzINYskKVykOLl3Q\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 328,
    "path": "../public/assets/suggest-name-CqCeaUyf.js"
  },
  "/assets/type-BLLju0eI.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"534-wQoxA+eTJN7gBr9Yfp0YvkZ5BxI\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 1332,
    "path": "../public/assets/type-BLLju0eI.js"
  },
  "/assets/type-BLLju0eI.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"1cc-SrlNRsdu7dZAmMGE1sK/iS7Obao\"",
    "mtime": "2026-11-26T23:27:16.200Z",
    "size": 460,
    "path": "../public/assets/type-BLLju0eI.js.br"
  },
  "/assets/type-BLLju0eI.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"231-LKHqAZqccJ471ooUdAs4dKEOuBo\"",
    "mtime": "2026-11-26T23:27:16.200Z",
    "size": 561,
    "path": "../public/assets/type-BLLju0eI.js.gz"
  },
  "/assets/ui-kEpJGmnM.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"5dcf-/PzbAlxHkE6CqkeUU3AeAT9YVKU\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 24015,
    "path": "../public/assets/ui-kEpJGmnM.js"
  },
  "/assets/ui-kEpJGmnM.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"2224-NuY8ghKMeoEskmpxmm7aJNPB2u4\"",
    "mtime": "2026-11-26T23:27:16.220Z",
    "size": 8740,
    "path": "../public/assets/ui-kEpJGmnM.js.br"
  },
  "/assets/ui-kEpJGmnM.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"2654-H/b7I5jyZVjeOwoLDgfj/3VcXJw\"",
    "mtime": "2026-11-26T23:27:16.200Z",
    "size": 9812,
    "path": "../public/assets/ui-kEpJGmnM.js.gz"
  },
  "/assets/units-DzenAdwB.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"1b8-SGca1yG4MOtJkuXDX6S10Bq+z/s\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 440,
    "path": "../public/assets/units-DzenAdwB.js"
  },
  "/assets/use-DUh-x321.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"386-dkcB6X6s4w4LEYT5er73UKZFnoc\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 902,
    "path": "../public/assets/use-DUh-x321.js"
  },
  "/assets/use-DZzFtvE6.js": {
    "type": "text/javascript; charset=utf-8",
    "etag": "\"21e-uHzRNgPZEpP+7cQBAsYrYbz8Giw\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 542,
    "path": "../public/assets/use-DZzFtvE6.js"
  },
  "/assets/vue-DFeIdzqG.js": {
    "type": "text/javascript; charset=utf-8",
    "encoding": null,
    "etag": "\"17dd9-3iOkiEX9yfAvSjJJSleY2LUgTkk\"",
    "mtime": "2026-11-26T23:27:12.639Z",
    "size": 97753,
    "path": "../public/assets/vue-DFeIdzqG.js"
  },
  "/assets/vue-DFeIdzqG.js.br": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "br",
    "etag": "\"83da-VBO9G0wnIn5hHuJO+CiqISH7jaM\"",
    "mtime": "2026-11-26T23:27:17.644Z",
    "size": 33754,
    "path": "../public/assets/vue-DFeIdzqG.js.br"
  },
  "/assets/vue-DFeIdzqG.js.gz": {
    "type": "text/javascript; charset=utf-8",
    "encoding": "gzip",
    "etag": "\"9183-Tgw/HBub9jUHNOlTptrUAKOB0mU\"",
    "mtime": "2026-11-26T23:27:16.336Z",
    "size": 37251,
    "path": "../public/assets/vue-DFeIdzqG.js.gz"
  }
};

const NOT_PAGES = /^\/+(api|hooks|assets|metrics|healthz)(\/|$)/i;
function assetAt(path) {
  const asset = Object.hasOwn(assets, path) ? assets[path] : void 0;
  return asset?.encoding ? void 0 : asset;
}
function isDashboardPath(path) {
  return !NOT_PAGES.test(path) || assetAt(path) !== void 0;
}

const pages = /*#__PURE__*/Object.freeze({
  __proto__: null,
  assetAt: assetAt,
  isDashboardPath: isDashboardPath
});

export { assetAt as a, assets as b, isDashboardPath as i, pages as p };
